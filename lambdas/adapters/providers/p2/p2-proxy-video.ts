import type { P2Channel } from '#core/catalogue/channel.ts'
import { submitOutcome } from '../video/submit-outcome.ts'
import { createUpstreamCaller, type VideoProviderDependencies } from '../video/upstream-caller.ts'
import { POLL_LIMITS, SUBMIT_LIMITS } from '../video/upstream-http.ts'
import type { VideoProvider } from '../video/video-provider.ts'
import { p2PollOutcome, p2TaskId } from './p2-reading.ts'
import { p2ProxyRequestBody } from './p2-request.ts'

/**
 * Family A behind a third party: a flat request, and an answer in whichever of the public shapes the proxy speaks.
 * Proxies have no common way to cancel, so every task runs on.
 */
export function createP2ProxyVideoProvider({
  channel,
  ...dependencies
}: VideoProviderDependencies & { readonly channel: P2Channel }): VideoProvider {
  const call = createUpstreamCaller(channel.base_url, dependencies)
  const now = dependencies.now ?? Date.now
  return {
    async submit(command) {
      const body = p2ProxyRequestBody(command)
      const submit = { method: 'POST', path: channel.paths.submit, body, limits: SUBMIT_LIMITS } as const
      return submitOutcome(await call({ ...submit, readTaskId: p2TaskId }), p2TaskId, now())
    },
    async poll(taskId) {
      const path = channel.paths.poll.replaceAll('{id}', () => encodeURIComponent(taskId))
      return p2PollOutcome(await call({ method: 'GET', path, limits: POLL_LIMITS }))
    },
    cancel: () => Promise.resolve('refused'),
  }
}
