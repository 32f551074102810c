import { hash } from 'node:crypto'
import type { Catalogue } from '#core/catalogue/catalogue.ts'
import type { RelayChannel } from '#core/catalogue/channel.ts'
import { NoChannelAvailableError, RateLimitedError, UpstreamFailedError, UpstreamTimeoutError } from '#core/errors.ts'
import { lotAtRandom, lotOfDigest, orderChannels, sessionText } from '#core/relay/relay-channel-order.ts'
import type { Breakers } from './breakers.ts'
import type { ChannelFailure } from './judge-answer.ts'
import type { ChannelContext, ChannelRequest } from './post-to-channel.ts'
import { type ChannelReply, tryChannel } from './try-channel.ts'

/** What calling upstreams takes from outside. */
export type UpstreamContext = ChannelContext & {
  readonly catalogue: Pick<Catalogue, 'relayChannels'>
  readonly breakers: Pick<Breakers, keyof Breakers>
  /** Numbers from 0 up to 1, for requests without a session. */
  readonly random: () => number
}

/** One request for whichever channel of its model takes it. */
export type UpstreamCall = ChannelRequest & {
  readonly tenantId: string
  /** The requests of one session stay with one channel while it is in order. */
  readonly sessionId: string | undefined
  /** Channels that failed this request after `callUpstream` had returned their answer; they are left out. */
  readonly failedChannels?: readonly string[]
  /** When the wait for the head of an answer ends: the {@link replyDeadline} of the request, also where a call is repeated. */
  readonly deadline: number
}

/** An upstream's answer, to be relayed as it is: a 2xx, or a 4xx about the request. */
export type UpstreamReply = ChannelReply & {
  /** Channels that this request was sent to or meant for, this one and those that failed it included. */
  readonly attempts: number
}

/** The client left, and no upstream is at work on its request: nothing was sent, or refused by all that were asked. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError'
}

/** The caller gave its call up. An upstream may be at work on it. */
class CallGivenUpError extends Error {
  override readonly name = 'CallGivenUpError'
}

/**
 * By when the client of a request is to hear of it, as a time of `performance.now()`: API Gateway cuts an answer after five
 * minutes of silence, and whoever works on it then works for nobody. All channels of the request, and the body of an answer
 * of which nothing can be sent before it is whole, have this one time together.
 * @param since when its client began to wait.
 */
export function replyDeadline({ catalogue }: { readonly catalogue: Pick<Catalogue, 'config'> }, since: number): number {
  return since + catalogue.config.answer_seconds * 1_000
}

/**
 * Sends a request to the first channel in order that takes it. Connection failures, 429, 5xx and refusals of the gateway
 * itself go on to the next channel, each of them at most once; an upstream that does not begin its answer in time does
 * not, because it may be at work and bill.
 * @throws RateLimitedError, UpstreamFailedError, NoChannelAvailableError, UpstreamTimeoutError, ClientGoneError,
 *   CallGivenUpError, and whatever `body` throws.
 */
export async function callUpstream(context: UpstreamContext, call: UpstreamCall): Promise<UpstreamReply> {
  const { deadline } = call
  const failedBefore = call.failedChannels ?? []
  const channels = context.catalogue.relayChannels(call.modelId).filter(({ id }) => !failedBefore.includes(id))
  const failures: ChannelFailure[] = failedBefore.map(() => ({ kind: 'failed', reason: 'broken answer' }))
  for (const channel of orderChannels(channels, lotsOf(call, context))) {
    const remainingMilliseconds = deadline - performance.now()
    if (remainingMilliseconds <= 0) {
      throw failures.length === 0 ? new UpstreamTimeoutError() : noReply(failures)
    }
    const admitted = context.breakers.admit(channel, context.nowMilliseconds())
    if (admitted !== undefined) {
      const outcome = await tryChannel(context, call, { channel, admitted, remainingMilliseconds })
      switch (outcome.kind) {
        case 'reply':
          return { ...outcome, attempts: failures.length + 1 }
        case 'aborted':
          throw new ClientGoneError()
        case 'given_up':
          throw new CallGivenUpError()
        case 'timeout':
          throw new UpstreamTimeoutError()
        default:
          failures.push(outcome)
      }
    }
  }
  throw failures.length === 0 ? noChannel(channels, context) : noReply(failures)
}

/** By the session, or by chance. */
function lotsOf({ tenantId, sessionId }: UpstreamCall, { random }: UpstreamContext): (channel: RelayChannel) => number {
  return sessionId === undefined
    ? () => lotAtRandom(random)
    : ({ id }) => lotOfDigest(hash('sha256', sessionText({ tenantId, sessionId }, id), 'buffer'))
}

/** With the time until the first channel may be tried again, in whole seconds. */
function noChannel(channels: readonly RelayChannel[], { breakers, nowMilliseconds }: UpstreamContext): Error {
  const now = nowMilliseconds()
  const rests = channels.map((channel) => breakers.restMilliseconds(channel, now))
  return new NoChannelAvailableError(atLeastOne(Math.ceil(Math.min(...rests) / 1_000)))
}

function noReply(failures: readonly ChannelFailure[]): Error {
  if (failures.some(({ kind }) => kind !== 'busy')) {
    return new UpstreamFailedError()
  }
  const asked = failures.map(({ retryAfterSeconds }) => retryAfterSeconds).filter((seconds) => seconds !== undefined)
  return new RateLimitedError(atLeastOne(Math.min(...asked)))
}

/** One second where nobody said how long, which makes the least of nothing endless. */
function atLeastOne(seconds: number): number {
  return Number.isFinite(seconds) ? Math.max(1, seconds) : 1
}
