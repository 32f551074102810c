import type { UpstreamCall } from '#adapters/relay/call-upstream.ts'
import type { RelayContext } from '#adapters/relay/relay-context.ts'
import type { AnswerWriter, RelayRequest } from '#adapters/relay/relay-request.ts'
import type { CompletionRequest } from '#core/contract/completion-request.ts'
import type { CompletionHead } from '#core/relay/completion-answer.ts'
import type { WriteCompletionCall } from '#core/relay/completion-calls.ts'

/** What an upstream answers to the chat call of one prompt, as far as a legacy completion goes. */
export type CompletionReply = {
  readonly channel: { readonly id: string }
  readonly status: number
  readonly contentType: string | undefined
  readonly upstreamRequestId: string | undefined
  readonly attempts: number
  /** Whoever does not read it to its end destroys it. */
  readonly body: AsyncIterable<Buffer> & { destroy(): void }
  /** Tells the channel's breaker what only the reader sees: that the answer lacks its end. */
  failed(): void
  /** Tells it that the answer is complete, though its upstream may keep the connection. */
  completed(): void
}

/** What creating completions takes from outside. */
export type CompletionContext = Pick<RelayContext, 'catalogue' | 'ledger' | 'nowMilliseconds'> & {
  readonly callUpstream: (call: UpstreamCall) => Promise<CompletionReply>
}

/** One request on its way, after its reservation. */
export type CompletionExchange = {
  readonly request: RelayRequest
  readonly completion: CompletionRequest
  readonly answer: AnswerWriter
  readonly context: CompletionContext
  readonly writeCall: WriteCompletionCall
  /** What stands for an id and a time that an upstream leaves out. */
  readonly fallback: CompletionHead
}

/** Prompts whose upstreams are at work at the same time: a request is no burst on a channel. */
export const PROMPTS_AT_ONCE = 8

/** Calls for completions that an upstream left out, for each prompt, after the first. */
export const REPEATS_MAX = 2
