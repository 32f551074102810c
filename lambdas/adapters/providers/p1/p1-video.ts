import type { P1Channel } from '#core/catalogue/channel.ts'
import { createAccountCaller, type VideoProviderDependencies } from '../video/account-caller.ts'
import { cancelOutcome } from '../video/cancel-outcome.ts'
import { submitOutcome } from '../video/submit-outcome.ts'
import { CANCEL_LIMITS, POLL_LIMITS, SUBMIT_LIMITS } from '../video/upstream-http.ts'
import type { VideoProvider } from '../video/video-provider.ts'
import { p1PollOutcome, p1TaskId } from './p1-reading.ts'
import { p1RequestBody } from './p1-request.ts'

const SUBMIT_PATH = '/api/v1/services/aigc/video-generation/video-synthesis'
const taskPath = (taskId: string) => `/api/v1/tasks/${encodeURIComponent(taskId)}`

/** The asynchronous task API of provider type P1. A PENDING task can be cancelled. */
export function createP1VideoProvider({
  channel,
  now = Date.now,
  ...dependencies
}: VideoProviderDependencies & { readonly channel: P1Channel }): VideoProvider {
  const call = createAccountCaller(channel.base_url, dependencies)
  return {
    async submit(command) {
      const outcome = await call({
        method: 'POST',
        path: SUBMIT_PATH,
        headers: { [channel.async_header]: 'enable' },
        body: p1RequestBody(command),
        limits: SUBMIT_LIMITS,
        readTaskId: p1TaskId,
      })
      return submitOutcome(outcome, p1TaskId, now())
    },
    async poll(taskId) {
      return p1PollOutcome(await call({ method: 'GET', path: taskPath(taskId), limits: POLL_LIMITS }))
    },
    async cancel(taskId) {
      return cancelOutcome(await call({ method: 'POST', path: `${taskPath(taskId)}/cancel`, limits: CANCEL_LIMITS }))
    },
  }
}
