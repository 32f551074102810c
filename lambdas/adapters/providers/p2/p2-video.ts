import type { P2Channel } from '#core/catalogue/channel.ts'
import { type AccountCaller, createAccountCaller, type VideoProviderDependencies } from '../video/account-caller.ts'
import { cancelOutcome } from '../video/cancel-outcome.ts'
import { parseJson } from '../video/json-reading.ts'
import { submitOutcome } from '../video/submit-outcome.ts'
import { CANCEL_LIMITS, POLL_LIMITS, SUBMIT_LIMITS } from '../video/upstream-http.ts'
import type { CancelOutcome, VideoProvider } from '../video/video-provider.ts'
import { p2PollOutcome, p2StatusWord, p2TaskId } from './p2-reading.ts'
import { p2ProxyRequestBody, p2RequestBody } from './p2-request.ts'

const TASKS_PATH = '/api/v3/contents/generations/tasks'
const taskPath = (taskId: string) => `${TASKS_PATH}/${encodeURIComponent(taskId)}`

type P2Dependencies = VideoProviderDependencies & { readonly channel: P2Channel }

/** P2's own task API, the same on the direct and the international route. A queued task can be cancelled. */
export function createP2VideoProvider({ channel, ...dependencies }: P2Dependencies): VideoProvider {
  const call = createAccountCaller(channel.base_url, dependencies)
  return {
    submit: (command) => submit(call, { path: TASKS_PATH, body: p2RequestBody(command) }, dependencies),
    poll: async (taskId) => p2PollOutcome(await call({ method: 'GET', path: taskPath(taskId), limits: POLL_LIMITS })),
    cancel: (taskId) => cancelQueuedTask(call, taskId),
  }
}

/**
 * Family A behind a third party: a flat request, and a reply in any of the public shapes of such proxies. Proxies have no
 * common way to cancel, so every task runs on.
 */
export function createP2ProxyVideoProvider({ channel, ...dependencies }: P2Dependencies): VideoProvider {
  const call = createAccountCaller(channel.base_url, dependencies)
  const pollPath = (taskId: string) => channel.paths.poll.replaceAll('{id}', () => encodeURIComponent(taskId))
  return {
    submit: (command) => submit(call, { path: channel.paths.submit, body: p2ProxyRequestBody(command) }, dependencies),
    poll: async (taskId) => p2PollOutcome(await call({ method: 'GET', path: pollPath(taskId), limits: POLL_LIMITS })),
    cancel: () => Promise.resolve('refused'),
  }
}

async function submit(
  call: AccountCaller,
  task: { readonly path: string; readonly body: object },
  { now = Date.now }: VideoProviderDependencies,
) {
  const outcome = await call({ ...task, method: 'POST', limits: SUBMIT_LIMITS, readTaskId: p2TaskId })
  return submitOutcome(outcome, p2TaskId, now())
}

/**
 * DELETE cancels a queued task, but removes the record of a finished one with the same reply. So the state is read first, and
 * only a queued task is deleted.
 */
async function cancelQueuedTask(call: AccountCaller, taskId: string): Promise<CancelOutcome> {
  const path = taskPath(taskId)
  const found = await call({ method: 'GET', path, limits: POLL_LIMITS })
  const word = found.kind === 'response' && found.status === 200 ? p2StatusWord(parseJson(found.text)) : undefined
  if (word === 'cancelled') {
    return 'cancelled'
  }
  if (word === undefined) {
    return 'unknown'
  }
  return word === 'queued' ? cancelOutcome(await call({ method: 'DELETE', path, limits: CANCEL_LIMITS })) : 'refused'
}
