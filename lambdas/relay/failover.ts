import { hash } from 'node:crypto'
import type { Catalogue } from '#core/catalogue/catalogue.ts'
import type { RelayChannel } from '#core/catalogue/channel.ts'
import {
  NoChannelAvailableError,
  RateLimitedError,
  UpstreamFailedError,
  type UpstreamFailureCode,
  UpstreamOverloadedError,
  UpstreamTimeoutError,
} from '#core/errors.ts'
import { lotAtRandom, lotOfDigest, orderRelayChannels, sessionText } from '#core/relay/relay-channel-order.ts'
import type { Breakers } from './breakers.ts'
import {
  type ChannelCall,
  type ChannelContext,
  type ChannelFailure,
  callChannel,
  faultReason,
  NothingRelayedError,
  type UpstreamReply,
} from './call-channel.ts'
import type { RelayExchange } from './relay-exchange.ts'
import type { RelayRequest } from './relay-protocol.ts'

/** The dependencies of calls to upstreams. */
export type UpstreamContext = ChannelContext & {
  /** Says which channels take work now: a request may last longer than the switches that it began with. */
  readonly currentCatalogue: { read(): Promise<Pick<Catalogue, 'relayChannels'>> }
  readonly breakers: Pick<Breakers, 'admit' | 'restMilliseconds'>
  /** Numbers from 0 up to 1, for requests without a session. */
  readonly random: () => number
}

/** One request for the first channel of its model that takes it. `deadline` is the {@link replyDeadline} of the request. */
export type UpstreamCall = ChannelCall & {
  readonly exchange: Pick<RelayExchange, 'caller' | 'sessionId' | 'requestId'>
  /** As in a relayed request: `X-Session-ID` comes before it. */
  readonly sessionId?: string | undefined
  readonly rankOf?: RelayRequest<never>['rankOf']
}

/**
 * The time of `performance.now()` by which a client must have its response: API Gateway cuts a response after five minutes of
 * silence, so the work of a slower upstream would be lost. All channels of the request share this time, with a body that must
 * be whole before any of it is sent.
 * @param since when the client began to wait.
 */
export function replyDeadline({ catalogue }: { readonly catalogue: Pick<Catalogue, 'config'> }, since: number): number {
  return since + catalogue.config.answer_seconds * 1_000
}

/**
 * Sends a request to the first channel, in order, that takes it, and relays its reply. Connection failures, 429, 5xx, refusals of
 * the gateway's own key, and replies of which nothing was relayed go on to the next channel, each channel at most once, and none
 * that was disabled meanwhile. The search ends if an upstream has the request and stays silent: that upstream may be working on
 * it, and bill it.
 * @param relay throws NothingRelayedError for a reply that another channel may replace.
 * @throws RateLimitedError, UpstreamOverloadedError, UpstreamFailedError, NoChannelAvailableError, UpstreamTimeoutError, ClientGoneError,
 *   CallGivenUpError, ServiceUnavailableError when the switches cannot be read, and whatever `write` and `relay` throw.
 */
export async function callUpstream<Relayed>(
  context: UpstreamContext,
  call: UpstreamCall,
  relay: (reply: UpstreamReply) => Promise<Relayed>,
): Promise<Relayed> {
  const { tenantId } = call.exchange.caller
  const channels = await currentChannels(context, call)
  const failures: ChannelFailure[] = []
  for (const channel of orderRelayChannels(channels, lotsOf(call, context), (each) => call.rankOf?.(each) ?? 0)) {
    if (performance.now() >= call.deadline) {
      throw failures.length === 0 ? new UpstreamTimeoutError() : noReply(failures)
    }
    const isOffered =
      failures.length === 0 || (await currentChannels(context, call)).some(({ id }) => id === channel.id)
    const admitted = isOffered
      ? context.breakers.admit(channel, { tenantId, nowMilliseconds: context.nowMilliseconds() }, channels.length === 1)
      : undefined
    if (admitted === undefined) {
      continue
    }
    const { requestId } = call.exchange
    const attempts = failures.length + 1
    const reply = await callChannel(context, { ...call, requestId, channel, admitted, attempts })
    if ('kind' in reply) {
      failures.push(reply)
      continue
    }
    try {
      return await relay(reply)
    } catch (error) {
      if (!(error instanceof NothingRelayedError)) {
        throw error
      }
      const failure = { kind: 'failed', reason: faultReason(reply), status: reply.status } as const
      failures.push(failure)
      call.tellFailure?.(failure, channel)
    }
  }
  throw failures.length === 0 ? noChannel(channels, tenantId, context) : noReply(failures)
}

/** The channels that take requests of the model now. @throws ServiceUnavailableError */
async function currentChannels(
  { currentCatalogue }: Pick<UpstreamContext, 'currentCatalogue'>,
  { modelId, rankOf }: Pick<UpstreamCall, 'modelId' | 'rankOf'>,
): Promise<readonly RelayChannel[]> {
  return servingChannels((await currentCatalogue.read()).relayChannels(modelId), rankOf)
}

/** The channels of a model that can serve a request. */
export function servingChannels(
  channels: readonly RelayChannel[],
  rankOf: UpstreamCall['rankOf'],
): readonly RelayChannel[] {
  return rankOf === undefined ? channels : channels.filter((channel) => rankOf(channel) !== undefined)
}

/** Draws lots by the session's digest, or by chance for a request without a session. */
function lotsOf(call: UpstreamCall, { random }: UpstreamContext): (channel: RelayChannel) => number {
  const { exchange } = call
  const sessionId = exchange.sessionId ?? call.sessionId
  if (sessionId === undefined) {
    return () => lotAtRandom(random)
  }
  const { tenantId } = exchange.caller
  return ({ id }) => lotOfDigest(hash('sha256', sessionText({ tenantId, sessionId }, id), 'buffer'))
}

/** Every breaker is open: the error says in how many whole seconds the first channel may be tried again. */
function noChannel(
  channels: readonly RelayChannel[],
  tenantId: string,
  { breakers, nowMilliseconds }: UpstreamContext,
): Error {
  const call = { tenantId, nowMilliseconds: nowMilliseconds() }
  const rests = channels.map((channel) => breakers.restMilliseconds(channel, call))
  return new NoChannelAvailableError(atLeastOne(Math.ceil(Math.min(...rests) / 1_000)))
}

function noReply(failures: readonly ChannelFailure[]): Error {
  const failure = failures.findLast(({ kind }) => kind !== 'busy')
  if (failure !== undefined) {
    return new UpstreamFailedError({ code: failureCode(failure) })
  }
  if (failures.some(({ isOverloaded }) => isOverloaded)) {
    return new UpstreamOverloadedError()
  }
  const asked = failures.map(({ retryAfterSeconds }) => retryAfterSeconds).filter((seconds) => seconds !== undefined)
  return new RateLimitedError(atLeastOne(Math.min(...asked)))
}

/** The reasons of calls that got no reply, or none of an upstream's API. */
const OWN_REASONS: Readonly<Record<string, UpstreamFailureCode>> = {
  'credential not available': 'upstream_auth',
  'compressed reply': 'upstream_error',
}

function failureCode({ kind, reason, status, isKeyRefused }: ChannelFailure): UpstreamFailureCode {
  if (status === undefined) {
    return OWN_REASONS[reason] ?? 'upstream_unavailable'
  }
  if (kind === 'refused') {
    return isKeyRefused ? 'upstream_auth' : 'upstream_quota'
  }
  return status >= 500 ? 'upstream_unavailable' : 'upstream_error'
}

/** One second where no upstream named a time: the minimum of an empty list is infinite. */
function atLeastOne(seconds: number): number {
  return Number.isFinite(seconds) ? Math.max(1, seconds) : 1
}
