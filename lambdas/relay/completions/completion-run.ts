import type { CompletionRequest } from '#core/contract/completion-request.ts'
import type { Microcredits } from '#core/money/money.ts'
import type { CallEnd } from '#core/quota/completion-cost.ts'
import type { TokenCounts } from '#core/quota/token-counts.ts'
import { believedUsage, readTokenUsage } from '#core/quota/token-usage.ts'
import { ChatStreamBrokenError } from '#core/relay/chat-stream-broken-error.ts'
import type { WriteCompletionCall } from '#core/relay/completion-calls.ts'
import type { CompletionHead } from '#core/relay/completion-reply.ts'
import type { PromptProgress } from '#core/relay/streamed-prompt.ts'
import type { ReplyTooLargeError } from '../large-reply.ts'
import type { RelayContext } from '../relay-context.ts'
import type { RelayExchange } from '../relay-exchange.ts'
import type { UpstreamReply } from '../upstream-reply.ts'

/** Calls for the completions that an upstream left out, for each prompt, after the first call. */
export const REPEATS_MAX = 2

/** One legacy completion after its reservation. */
export type CompletionRun = {
  readonly exchange: RelayExchange
  readonly completion: CompletionRequest
  readonly context: RelayContext
  readonly writeCall: WriteCompletionCall
  /** Length of each prompt's chat call in UTF-8, for the channel of the model that gets the longest one. */
  readonly callBytes: readonly number[]
  /** Replaces an id and a time that an upstream leaves out. */
  readonly fallback: CompletionHead
}

/** The state of one prompt. */
export type PromptRun = {
  readonly promptIndex: number
  /** An upstream may have seen the prompt. */
  isSent: boolean
  /** One of the prompt's calls may be at work and has not ended. */
  isUnderWay: boolean
  /** A call whose reply was larger than what is held. */
  cut: CallEnd | undefined
  /** The prompt has all its completions. */
  isWhole: boolean
}

/** One reply to a prompt: how many completions were asked for, and when the prompt must be answered. */
export type PromptReply = { readonly reply: UpstreamReply; readonly n: number; readonly deadline: number }

/** What the replies to the prompts become: one response in the end, or events while they arrive. */
export interface CompletionForm {
  /** How a call that the client did not wait for is billed. */
  readonly leftCall: 'abandoned' | 'unread'
  /**
   * Reads one reply to its end.
   * @returns how many of the completions that were asked for are missing.
   * @throws CallCutError, ChatStreamBrokenError, UpstreamFailedError, UpstreamTimeoutError.
   */
  read(promptIndex: number, reply: PromptReply): Promise<number>
  /** Whether another channel may take a prompt whose reply broke off. If so, what came of that reply is forgotten. */
  restart(promptIndex: number): boolean
  /** What there is to bill for a prompt. */
  progress(promptIndex: number): PromptProgress
  /** Sends the end of the response. */
  end(how: CompletionEnd, ending: CompletionEnding): void
  /** Releases timers. To be called when every prompt has ended. */
  stop?(): void
}

/** What the end of a response tells besides the completions. */
export type CompletionEnding = {
  readonly failure: unknown
  /** What the request is billed; undefined for a model without a price. */
  readonly cost: Microcredits | undefined
}

/** How a completion ended for its client. */
export type CompletionEnd = 'whole' | 'broken' | 'abandoned'

/** An upstream gave fewer completions than it was asked for, in every call. It has done its work, and bills it. */
export class MissingCompletionsError extends ChatStreamBrokenError {
  constructor() {
    super(undefined, { cause: new TypeError('the upstream gives fewer completions than it was asked for') })
  }
}

/** The gateway's own bound cut a reply. Any upstream would send the same again, so no other channel is called. */
export class CallCutError extends ChatStreamBrokenError {
  /** What was reported by then, unchecked against the bounds of the model. */
  readonly usage: TokenCounts | undefined
  /** Whether nothing of the reply was a completion. It is then free. */
  readonly isWorthless: boolean

  constructor(cause: Error, { usage, isWorthless = false }: { usage: TokenCounts | undefined; isWorthless?: boolean }) {
    super(undefined, { cause })
    this.usage = usage
    this.isWorthless = isWorthless
  }

  static ofLarge(cause: ReplyTooLargeError): CallCutError {
    const { usage, entries } = cause.reply
    return new CallCutError(cause, { usage: believedUsage(readTokenUsage(usage), true), isWorthless: entries === 0 })
  }
}
