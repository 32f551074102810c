import type { P2Channel } from '#core/catalogue/channel.ts'
import { cancelOutcome } from '../video/cancel-outcome.ts'
import { parseJson } from '../video/json-reading.ts'
import { submitOutcome } from '../video/submit-outcome.ts'
import { createUpstreamCaller, type UpstreamCaller, type VideoProviderDependencies } from '../video/upstream-caller.ts'
import { CANCEL_LIMITS, POLL_LIMITS, SUBMIT_LIMITS } from '../video/upstream-http.ts'
import type { CancelOutcome, VideoProvider } from '../video/video-provider.ts'
import { p2PollOutcome, p2StatusWord, p2TaskId } from './p2-reading.ts'
import { p2RequestBody } from './p2-request.ts'

const TASKS_PATH = '/api/v3/contents/generations/tasks'
const taskPath = (taskId: string) => `${TASKS_PATH}/${encodeURIComponent(taskId)}`

/** P2's own task API, the same on the direct and the international route. A task can be cancelled while it is queued. */
export function createP2VideoProvider({
  channel,
  ...dependencies
}: VideoProviderDependencies & { readonly channel: P2Channel }): VideoProvider {
  const call = createUpstreamCaller(channel.base_url, dependencies)
  const now = dependencies.now ?? Date.now
  return {
    async submit(command) {
      const body = p2RequestBody(command)
      const submit = { method: 'POST', path: TASKS_PATH, body, limits: SUBMIT_LIMITS } as const
      return submitOutcome(await call({ ...submit, readTaskId: p2TaskId }), p2TaskId, now())
    },
    async poll(taskId) {
      return p2PollOutcome(await call({ method: 'GET', path: taskPath(taskId), limits: POLL_LIMITS }))
    },
    cancel: (taskId) => cancelQueuedTask(call, taskId),
  }
}

/**
 * DELETE cancels a queued task, but removes the record of a finished one with the same answer: the state is asked for
 * first, and only a queued task is deleted.
 */
async function cancelQueuedTask(call: UpstreamCaller, taskId: string): Promise<CancelOutcome> {
  const path = taskPath(taskId)
  const answer = await call({ method: 'GET', path, limits: POLL_LIMITS })
  const word = answer.kind === 'response' && answer.status === 200 ? p2StatusWord(parseJson(answer.text)) : undefined
  if (word === 'cancelled') {
    return 'cancelled'
  }
  if (word === undefined) {
    return 'unknown'
  }
  return word === 'queued' ? cancelOutcome(await call({ method: 'DELETE', path, limits: CANCEL_LIMITS })) : 'refused'
}
