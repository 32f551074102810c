import { believedUsage, type ChatUsage, readChatUsage } from '#core/quota/token-usage.ts'
import { ChatStreamBrokenError } from '#core/relay/chat-stream-broken-error.ts'
import type { ReplyTooLargeError } from '../large-reply.ts'
import type { UpstreamReply } from '../upstream-reply.ts'

/** An upstream's 4xx about the request, which is relayed as it is. */
export class UpstreamRefusalError extends Error {
  override readonly name = 'UpstreamRefusalError'
  readonly status: number
  readonly contentType: string | undefined
  readonly text: string
  constructor({ status, contentType }: Pick<UpstreamReply, 'status' | 'contentType'>, text: string) {
    super(`the upstream refused the request with ${status}`)
    this.status = status
    this.contentType = contentType
    this.text = text
  }
}

/** An upstream gave fewer completions than it was asked for, in every call. It has done its work, and bills it. */
export class MissingCompletionsError extends ChatStreamBrokenError {
  constructor() {
    super(undefined, { cause: new TypeError('the upstream gives fewer completions than it was asked for') })
  }
}

/** The gateway's own bound cut a reply. Any upstream would send the same again, so no other channel is called. */
export class CallCutError extends ChatStreamBrokenError {
  /** What was reported by then, unchecked against the bounds of the model. */
  readonly usage: ChatUsage | undefined
  /** Whether nothing of the reply was a completion. It is then free. */
  readonly isWorthless: boolean

  constructor(cause: Error, { usage, isWorthless = false }: { usage: ChatUsage | undefined; isWorthless?: boolean }) {
    super(undefined, { cause })
    this.usage = usage
    this.isWorthless = isWorthless
  }

  static ofLarge(cause: ReplyTooLargeError): CallCutError {
    const { usage, entries } = cause.reply
    return new CallCutError(cause, { usage: believedUsage(readChatUsage(usage), true), isWorthless: entries === 0 })
  }
}
