import type { Bill } from '#adapters/relay/bill-request.ts'
import { readAnswer, sendWhole } from '#adapters/relay/read-answer.ts'
import { UpstreamFailedError } from '#core/errors.ts'
import type { PromptEnd } from '#core/quota/completion-cost.ts'
import { type ChatChoices, readChatChoices } from '#core/relay/chat-choices.ts'
import { completionAnswer, missingChoices, sumOfUsages } from '#core/relay/completion-answer.ts'
import { billPrompts } from './bill-prompts.ts'
import { type CompletionExchange, PROMPTS_AT_ONCE, REPEATS_MAX } from './completion-exchange.ts'
import { inParallel } from './in-parallel.ts'

import { UpstreamCalls } from './upstream-calls.ts'

/** The largest chat answer that is held: all completions that a request may ask for, at any model's length, stay below. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024

/**
 * Answers when every prompt has its completions; the failure of one fails all, and nothing is billed.
 * @throws UpstreamRefusalError, UpstreamFailedError, and what `callUpstream` throws. Nothing was sent to the client then.
 */
export async function answerWhole(exchange: CompletionExchange, bill: Bill): Promise<void> {
  const { completion, answer, fallback } = exchange
  const { prompts, n } = completion
  const calls = new UpstreamCalls(exchange)
  const answers: ChatChoices[][] = prompts.map(() => [])
  try {
    await inParallel(
      {
        count: prompts.length,
        most: PROMPTS_AT_ONCE,
        mayStart: () => calls.mayCall,
        onFailure: () => calls.end(),
      },
      (promptIndex) => askForPrompt(promptIndex, { calls, answers: answers[promptIndex] ?? [], n }),
    )
  } catch (error) {
    if (!calls.isAbandoned) {
      throw error
    }
  } finally {
    calls.stopWaiting()
  }
  const isWhole = answers.every((each) => missingChoices(each, n) === 0)
  if (isWhole) {
    const text = completionAnswer(completion, answers, fallback)
    sendWhole(answer, { statusCode: 200, body: Buffer.from(text) })
  }
  billPrompts(exchange, bill, (promptIndex) => promptEnd(answers[promptIndex] ?? [], calls.wasCalled(promptIndex)))
}

type Asking = { readonly calls: UpstreamCalls; readonly answers: ChatChoices[]; readonly n: number }

/** Upstreams that know no `n` give one completion, whatever was asked for: the rest is asked for again. */
async function askForPrompt(promptIndex: number, { calls, answers, n }: Asking): Promise<void> {
  for (let call = 0; call <= REPEATS_MAX; call += 1) {
    const reply = await calls.call({ promptIndex, n: missingChoices(answers, n) })
    if (reply === undefined) {
      return
    }
    const read = readChatChoices((await readAnswer(reply, ANSWER_BYTES_MAX)).toString('utf8'))
    if (read === undefined) {
      throw new UpstreamFailedError({ cause: new TypeError('the answer is not a chat completion') })
    }
    answers.push(read)
    if (missingChoices(answers, n) === 0) {
      return
    }
  }
  throw new UpstreamFailedError({ cause: new TypeError('the upstream gives fewer completions than it was asked for') })
}

/** A prompt whose client left before its answer came is billed as if it had come without a usage. */
function promptEnd(answers: readonly ChatChoices[], wasCalled: boolean): PromptEnd {
  if (!wasCalled) {
    return { kind: 'unsent' }
  }
  return { kind: 'whole', usage: answers.length === 0 ? undefined : sumOfUsages(answers.map(({ usage }) => usage)) }
}
