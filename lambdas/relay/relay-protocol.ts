import type { AllowedList, PassedBody } from '#core/allowed-fields.ts'
import type { ErrorForm } from '#core/api/error-form.ts'
import type { Catalogue } from '#core/catalogue/catalogue.ts'
import type { RelayChannel } from '#core/catalogue/channel.ts'
import type { RelayModel } from '#core/catalogue/model.ts'
import type { Microcredits } from '#core/money.ts'
import type { Billing, CallEnd } from '#core/pricing/usage.ts'
import type { EventStream, StreamRules } from '#core/relay/event-stream.ts'
import type { ReplyRules, ReplyScan } from '#core/relay/reply-scan.ts'
import type { ReplyReader } from '#core/relay/whole-reply.ts'

/**
 * One kind of relayed request. The relay knows a protocol by this alone: how a request is read, bounded in price and written for a
 * channel, how replies are read and billed, and how errors look.
 */
export type RelayProtocol<Usage> = {
  /** As in the table of routes. */
  readonly operation: string
  /** The fields that pass upstream, besides those that a channel adds. */
  readonly fields: AllowedList
  readonly errors: ErrorForm
  /** Checks a request, before anything is reserved. @throws InvalidRequestError, ModelNotFoundError */
  readonly read: (asked: ClientRequest) => RelayRequest<Usage>
}

/** A request as its client sent it. */
export type ClientRequest = {
  readonly json: unknown
  /** The same, as the client wrote it. */
  readonly text: string
  /** Length of `text` in UTF-8. */
  readonly bodyBytes: number
  readonly requestId: string
  /** As it was when the request began. */
  readonly catalogue: Catalogue
  /** Models that the key may use; null for all. */
  readonly allowedModels: readonly string[] | null
  /** Unix time. */
  readonly nowMilliseconds: number
}

/** One request in the terms of its protocol. */
export type RelayRequest<Usage> = {
  readonly model: RelayModel
  /** For the log line. */
  readonly facts: Readonly<Record<string, string | number | boolean>>
  /** Calls of upstreams, one after the other. Their replies make one response, and the end of one ends all. */
  readonly calls: number
  readonly billing: Billing<Usage>
  /** What one call sends to a channel. */
  readonly write: (call: number, target: CallTarget) => UpstreamRequest
  /** Reads a reply of status 2xx that is not streamed. */
  readonly reader: (call: number, rules: ReplyRules & FromChannel) => ReplyReader<Usage>
  readonly large: LargeReplies
  /**
   * Joins what is relayed of the replies to several calls. Left out where the reply to the one call is the response.
   * @param cost shown in it; undefined for none.
   */
  readonly respond?: (
    parts: readonly Uint8Array[],
    ends: readonly CallEnd<Usage>[],
    cost: Microcredits | undefined,
  ) => readonly Uint8Array[]
  /** For a client that wants events. */
  readonly streaming?: RequestStream<Usage> | undefined
}

/** The channel that gets a call, and the id under which its upstream knows the model. */
export type CallTarget = { readonly channel: RelayChannel; readonly upstreamModel: string }

/** The channel that replied: the upstream of another one may speak another API. */
export type FromChannel = Pick<CallTarget, 'channel'>

/** A request to an upstream: a path below the base url of the channel, JSON, and the fields of the client that are not in it. */
export type UpstreamRequest = PassedBody & { readonly path: string }

/** What becomes of whole replies that are too large to be held. */
export type LargeReplies = {
  /** The top-level list of a reply that has what was asked for. */
  readonly list: string
  /** Bytes of all whole replies that are held; left out for the most of any. */
  readonly bytesMax?: number
  /** Whether a larger reply is the response, but for its model, its cost and what is hidden. Otherwise it is a failure. */
  readonly areRelayed: boolean
}

/** The stream of one reply, as the relay sees it. */
export type RelayedStream<Usage> = Pick<
  EventStream<Usage, ReplyScan>,
  'push' | 'end' | 'state' | 'hasBegun' | 'hasGenerated' | 'isAtWork' | 'usage' | 'relayedTextBytes'
>

/** How a request is streamed. */
export type RequestStream<Usage> = {
  /** Reads the stream of one call. @param costOf the cost of a usage to show; undefined where nothing is billed. */
  readonly open: (
    call: number,
    rules: StreamRules & FromChannel & { readonly costOf: (usage: Usage) => Microcredits | undefined },
  ) => RelayedStream<Usage>
  /** The last events, after those of all replies. Left out where the end of the upstream's own stream was relayed. */
  readonly end?: (ends: readonly CallEnd<Usage>[], cost: Microcredits | undefined) => string
}
