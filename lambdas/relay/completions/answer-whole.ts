import type { CompletionRequest } from '#core/contract/completion-request.ts'
import { UpstreamFailedError } from '#core/errors.ts'
import type { CallEnd, PromptEnd } from '#core/quota/completion-cost.ts'
import { type ChatChoices, readChatChoices } from '#core/relay/chat-choices.ts'
import { completionResponse, missingChoices, sumOfUsages } from '#core/relay/completion-reply.ts'
import type { Bill } from '../bill-request.ts'
import { ReplyTooLargeError } from '../large-reply.ts'
import { readSuccess } from '../read-reply.ts'
import { sendWhole } from '../send-response.ts'
import type { UpstreamReply } from '../upstream-reply.ts'
import { billAnsweredPrompts, billPrompts } from './bill-prompts.ts'
import { type CompletionExchange, type PromptRun, promptRuns, REPEATS_MAX } from './completion-exchange.ts'
import { forEachPrompt } from './for-each-prompt.ts'
import { keepCut } from './keep-cut.ts'
import { UpstreamCalls, UpstreamRefusalError } from './upstream-calls.ts'

/** The largest chat answer that is held: all completions that a request may ask for, at any model's length, stay below. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024

/** A prompt, and the answers to its calls. */
type AskedPrompt = PromptRun & { readonly answers: ChatChoices[] }

/**
 * Answers when every prompt has its completions. The failure of one fails all; billed is nothing then, unless an upstream
 * refused a prompt, left completions out, or gave more than is held: the calls that were answered are.
 * @throws UpstreamRefusalError, UpstreamFailedError, and what `callUpstream` throws. Nothing was sent to the client then.
 */
export async function answerWhole(exchange: CompletionExchange, bill: Bill): Promise<void> {
  const { completion, answer, fallback } = exchange
  const calls = new UpstreamCalls(exchange)
  const deadline = calls.replyDeadline()
  const prompts = promptRuns(completion).map((prompt): AskedPrompt => ({ ...prompt, answers: [] }))
  try {
    await forEachPrompt(prompts, calls, (prompt) =>
      askForPrompt(prompt, { calls, deadline, gone: answer.gone, n: completion.n, model: completion.model }),
    )
  } catch (error) {
    if (!calls.isAbandoned) {
      if (isBilled(error)) {
        billAnsweredPrompts(exchange, bill, { prompts, endOf: promptEnd })
      }
      throw error
    }
  } finally {
    calls.stopWaiting()
  }
  if (prompts.every(({ isWhole }) => isWhole)) {
    const answers = prompts.map((prompt) => prompt.answers)
    sendWhole(answer, { statusCode: 200, body: Buffer.from(completionResponse(completion, answers, fallback)) })
  }
  billPrompts(exchange, bill, prompts.map(promptEnd))
}

type Asking = {
  readonly calls: UpstreamCalls
  readonly deadline: number
  readonly gone: AbortSignal
  readonly n: number
  readonly model: CompletionRequest['model']
}

/** Upstreams that know no `n` give one completion, whatever was asked for: the rest is asked for again. */
async function askForPrompt(prompt: AskedPrompt, asking: Asking): Promise<void> {
  const { calls, n, deadline } = asking
  const { answers } = prompt
  for (let call = 0; call <= REPEATS_MAX; call += 1) {
    const missing = missingChoices(answers, n)
    const reply = await calls.call(prompt, { n: missing, deadline })
    if (reply === undefined) {
      return
    }
    const read = readChatChoices((await readCall(prompt, reply, { ...asking, n: missing })).toString('utf8'))
    if (read === undefined) {
      reply.failed()
      throw new UpstreamFailedError({ cause: new TypeError('the answer is not a chat completion') })
    }
    answers.push({ ...read, usage: read.usage && calls.withinBounds(read.usage, reply, missing) })
    prompt.isUnderWay = false
    if (missingChoices(answers, n) === 0) {
      prompt.isWhole = true
      return
    }
  }
  throw new MissingCompletionsError()
}

/** One that is too large to be held is billed all the same. */
async function readCall(
  prompt: PromptRun,
  reply: UpstreamReply,
  { calls, n, model, ...patience }: Asking,
): Promise<Buffer> {
  try {
    const form = { publicModel: model.id, list: 'choices' } as const
    return await readSuccess(reply, { bytesMax: ANSWER_BYTES_MAX, form, ...patience })
  } catch (error) {
    if (error instanceof ReplyTooLargeError) {
      keepCut(prompt, error.reply, (usage) => calls.withinBounds(usage, reply, n))
    }
    throw error
  }
}

/** Whether a failure leaves something to bill: the client's own doing, or work that its upstream has done. */
function isBilled(error: unknown): boolean {
  return [UpstreamRefusalError, MissingCompletionsError, ReplyTooLargeError].some((kind) => error instanceof kind)
}

/** An upstream that gives fewer completions than it was asked for, however often. It has done its work, and bills it. */
class MissingCompletionsError extends UpstreamFailedError {
  constructor() {
    super({ cause: new TypeError('the upstream gives fewer completions than it was asked for') })
  }
}

function promptEnd({ isSent, isUnderWay, isWhole, cut, answers }: AskedPrompt): PromptEnd {
  if (!isSent) {
    return { kind: 'unsent' }
  }
  if (isWhole) {
    return { kind: 'whole', usage: sumOfUsages(answers.map(({ usage }) => usage)) }
  }
  const ended = answers.filter(({ choices }) => choices.length > 0).map(endOf)
  return { kind: 'partial', calls: [...ended, ...(cut === undefined ? [] : [cut]), ...(isUnderWay ? [UNREAD] : [])] }
}

/** A call whose client left before its answer came. */
const UNREAD: CallEnd = { kind: 'unread', usage: undefined, textBytes: 0 }

function endOf({ usage, choices }: ChatChoices): CallEnd {
  return { kind: 'ended', usage, textBytes: choices.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0) }
}
