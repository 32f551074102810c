import type { Bill } from '#adapters/relay/bill-request.ts'
import { readSuccess, sendWhole } from '#adapters/relay/read-answer.ts'
import { UpstreamFailedError } from '#core/errors.ts'
import type { CallEnd, PromptEnd } from '#core/quota/completion-cost.ts'
import { type ChatChoices, readChatChoices } from '#core/relay/chat-choices.ts'
import { completionAnswer, missingChoices, sumOfUsages } from '#core/relay/completion-answer.ts'
import { billAnsweredPrompts, billPrompts } from './bill-prompts.ts'
import { type CompletionExchange, type PromptRun, promptRuns, REPEATS_MAX } from './completion-exchange.ts'
import { forEachPrompt } from './for-each-prompt.ts'
import { UpstreamCalls, UpstreamRefusalError } from './upstream-calls.ts'

/** The largest chat answer that is held: all completions that a request may ask for, at any model's length, stay below. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024

/** A prompt, and the answers to its calls. */
type AskedPrompt = PromptRun & { readonly answers: ChatChoices[] }

/**
 * Answers when every prompt has its completions. The failure of one fails all; billed is nothing then, unless an upstream
 * refused a prompt or left completions out: the calls that were answered are.
 * @throws UpstreamRefusalError, UpstreamFailedError, and what `callUpstream` throws. Nothing was sent to the client then.
 */
export async function answerWhole(exchange: CompletionExchange, bill: Bill): Promise<void> {
  const { completion, answer, fallback } = exchange
  const calls = new UpstreamCalls(exchange)
  const deadline = calls.replyDeadline()
  const prompts = promptRuns(completion).map((prompt): AskedPrompt => ({ ...prompt, answers: [] }))
  try {
    await forEachPrompt(prompts, calls, (prompt) =>
      askForPrompt(prompt, { calls, deadline, gone: answer.gone, n: completion.n }),
    )
  } catch (error) {
    if (!calls.isAbandoned) {
      if (error instanceof UpstreamRefusalError || error instanceof MissingCompletionsError) {
        billAnsweredPrompts(exchange, bill, { prompts, endOf: promptEnd })
      }
      throw error
    }
  } finally {
    calls.stopWaiting()
  }
  if (prompts.every(({ isWhole }) => isWhole)) {
    const answers = prompts.map((prompt) => prompt.answers)
    sendWhole(answer, { statusCode: 200, body: Buffer.from(completionAnswer(completion, answers, fallback)) })
  }
  billPrompts(exchange, bill, prompts.map(promptEnd))
}

type Asking = {
  readonly calls: UpstreamCalls
  readonly deadline: number
  readonly gone: AbortSignal
  readonly n: number
}

/** Upstreams that know no `n` give one completion, whatever was asked for: the rest is asked for again. */
async function askForPrompt(prompt: AskedPrompt, { calls, n, ...patience }: Asking): Promise<void> {
  const { answers } = prompt
  for (let call = 0; call <= REPEATS_MAX; call += 1) {
    const missing = missingChoices(answers, n)
    const reply = await calls.call(prompt, { n: missing, deadline: patience.deadline })
    if (reply === undefined) {
      return
    }
    const bytes = await readSuccess(reply, { bytesMax: ANSWER_BYTES_MAX, ...patience })
    const read = readChatChoices(bytes.toString('utf8'))
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

/** An upstream that gives fewer completions than it was asked for, however often. It has done its work, and bills it. */
class MissingCompletionsError extends UpstreamFailedError {
  constructor() {
    super({ cause: new TypeError('the upstream gives fewer completions than it was asked for') })
  }
}

function promptEnd({ isSent, isUnderWay, isWhole, answers }: AskedPrompt): PromptEnd {
  if (!isSent) {
    return { kind: 'unsent' }
  }
  if (isWhole) {
    return { kind: 'whole', usage: sumOfUsages(answers.map(({ usage }) => usage)) }
  }
  const ended = answers.filter(({ choices }) => choices.length > 0).map(endOf)
  return { kind: 'partial', calls: isUnderWay ? [...ended, UNREAD] : ended }
}

/** A call whose client left before its answer came. */
const UNREAD: CallEnd = { kind: 'unread', usage: undefined, textBytes: 0 }

function endOf({ usage, choices }: ChatChoices): CallEnd {
  return { kind: 'ended', usage, textBytes: choices.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0) }
}
