import { hiddenFields } from '#core/catalogue/hidden-fields.ts'
import { UpstreamFailedError } from '#core/errors.ts'
import { type ChatChoices, readChatChoices } from '#core/relay/chat-choices.ts'
import { completionResponse, missingChoices, sumOfUsages } from '#core/relay/completion-reply.ts'
import type { PromptProgress } from '#core/relay/streamed-prompt.ts'
import { costHeaders } from '../cost-headers.ts'
import { ReplyTooLargeError } from '../large-reply.ts'
import { readSuccess } from '../read-reply.ts'
import { sendWhole } from '../send-response.ts'
import {
  CallCutError,
  type CompletionEnd,
  type CompletionEnding,
  type CompletionForm,
  type CompletionRun,
  type PromptReply,
} from './completion-run.ts'
import type { PromptCalls } from './prompt-calls.ts'

/** The largest chat reply that is held: all completions that a request may ask for, at any model's length, stay below. */
export const REPLY_BYTES_MAX = 16 * 1024 * 1024

/** A completion that is sent when every prompt has its replies. */
export class WholeCompletion implements CompletionForm {
  readonly leftCall = 'unread'
  readonly #run: CompletionRun
  readonly #calls: PromptCalls
  /** By prompt. */
  readonly #replies: ChatChoices[][]

  constructor(run: CompletionRun, calls: PromptCalls) {
    this.#run = run
    this.#calls = calls
    this.#replies = run.completion.prompts.map(() => [])
  }

  async read(promptIndex: number, { reply, n, deadline }: PromptReply): Promise<number> {
    const { completion, exchange, context } = this.#run
    const bounds = {
      bytesMax: REPLY_BYTES_MAX,
      form: { publicModel: completion.model.id, hidden: hiddenFields(context.catalogue.config), list: 'choices' },
      deadline,
      gone: exchange.response.gone,
    } as const
    const bytes = await readSuccess(reply, bounds).catch((error) => {
      throw error instanceof ReplyTooLargeError ? CallCutError.ofLarge(error) : error
    })
    const read = readChatChoices(bytes.toString('utf8'))
    if (read === undefined) {
      reply.failed()
      throw new UpstreamFailedError({ cause: new TypeError('the answer is not a chat completion') })
    }
    const replies = this.#repliesTo(promptIndex)
    replies.push({ ...read, usage: read.usage && this.#calls.withinBounds(read.usage, reply, n) })
    return missingChoices(replies, completion.n)
  }

  restart(): boolean {
    return false
  }

  progress(promptIndex: number): PromptProgress {
    const replies = this.#repliesTo(promptIndex)
    return {
      usage: sumOfUsages(replies.map(({ usage }) => usage)),
      answered: replies
        .filter(({ choices }) => choices.length > 0)
        .map(({ usage, choices }) => ({
          usage,
          textBytes: choices.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0),
        })),
      underWay: { usage: undefined, textBytes: 0 },
    }
  }

  end(how: CompletionEnd, { cost }: CompletionEnding): void {
    if (how === 'whole') {
      const { completion, fallback, exchange } = this.#run
      const body = Buffer.from(completionResponse(completion, this.#replies, { fallback, cost }))
      sendWhole(exchange.response, { statusCode: 200, body, headers: costHeaders(cost) })
    }
  }

  #repliesTo(promptIndex: number): ChatChoices[] {
    const replies = this.#replies[promptIndex]
    if (replies === undefined) {
      throw new RangeError(`no prompt ${promptIndex}`)
    }
    return replies
  }
}
