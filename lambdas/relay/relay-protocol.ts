import type { PassedBody } from '#core/allowed-fields.ts'
import type { ErrorFacts, ErrorForm } from '#core/api/error-form.ts'
import type { Catalogue } from '#core/catalogue/catalogue.ts'
import type { RelayChannel } from '#core/catalogue/channel.ts'
import type { RelayModel } from '#core/catalogue/model.ts'
import type { JsonObject } from '#core/json/parse-json-text.ts'
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
  readonly errors: ErrorForm
  /** The query parameters that it knows; none of them goes upstream. */
  readonly query?: readonly string[]
  /** The event that a client gets during silence; left out for a comment. */
  readonly keepAlive?: string
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
  /** The last value of a header. @param name in lower case. */
  readonly header: (name: string) => string | undefined
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
  /** Requests with the same value stay with one channel, where the client names no session in `X-Session-ID`. */
  readonly sessionId?: string | undefined
  /**
   * How well a channel serves it: the lowest number comes first among channels of one priority, and undefined is for a channel that cannot.
   * Left out where all serve it alike.
   */
  readonly rankOf?: (channel: RelayChannel) => number | undefined
  readonly billing: Billing<Usage>
  /** What one call sends to a channel. */
  readonly write: (call: number, target: CallTarget) => UpstreamRequest
  /** Reads a reply of status 2xx that is not streamed. */
  readonly reader: (call: number, rules: ReplyRules & FromChannel) => ReplyReader<Usage>
  readonly large: LargeReplies | ((from: FromChannel) => LargeReplies)
  /** The refusal of an upstream in the words of the client's API; left out where upstreams have the same API. */
  readonly refusal?: (refusal: JsonObject, from: FromChannel & { readonly status: number }) => object
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

/** A request to an upstream: a path below its base url, JSON, and the fields of the client that are not in it. */
export type UpstreamRequest = PassedBody & {
  readonly path: string
  /** Left out for the one of the channel. */
  readonly baseUrl?: string | undefined
  /** Left out for a bearer. */
  readonly keyHeader?: 'x-api-key'
  /** Besides those of every request. */
  readonly headers?: Readonly<Record<string, string>>
}

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
> & {
  /** The most that is held back before anything was generated; left out for the most of events that say little. */
  readonly heldBytesMax?: number
  /** The last event of a stream that breaks off; left out where it does not depend on what came before. */
  readonly failure?: (error: ErrorFacts) => string
}

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
