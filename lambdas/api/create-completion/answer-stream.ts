import type { Bill } from '#adapters/relay/bill-request.ts'
import { BROKEN_ANSWER, EventSender } from '#adapters/relay/event-sender.ts'
import { UpstreamFailedError } from '#core/errors.ts'
import type { PromptEnd } from '#core/quota/completion-cost.ts'
import { ChatStreamBrokenError, CompletionStream } from '#core/relay/completion-stream.ts'
import { billAnsweredPrompts, billPrompts } from './bill-prompts.ts'
import { type CompletionExchange, type PromptRun, promptRuns } from './completion-exchange.ts'
import { forEachPrompt } from './for-each-prompt.ts'
import { CallCutError, StreamedPrompts } from './streamed-prompts.ts'
import { UpstreamCalls, UpstreamRefusalError } from './upstream-calls.ts'

/** How the stream ended for its client. */
type StreamEnd = 'whole' | 'broken' | 'abandoned'

/**
 * Answers with one stream, in which the completions of all prompts come as they come. A failure before its first byte is
 * an error like any other, for which nothing is billed unless an upstream refused a prompt or gave more than is held: what
 * was answered is. After it, one event with the error ends the stream.
 * @throws UpstreamRefusalError, UpstreamFailedError, and what `callUpstream` throws. Nothing was sent to the client then.
 */
export async function answerStream(exchange: CompletionExchange, bill: Bill): Promise<void> {
  const { completion, answer, request, fallback } = exchange
  const stream = new CompletionStream(completion, fallback)
  const calls = new UpstreamCalls(exchange)
  const sender = new EventSender(answer)
  const streamed = new StreamedPrompts({ completion, calls, stream, sender })
  const prompts = promptRuns(completion)
  let end: StreamEnd
  try {
    await forEachPrompt(prompts, calls, (prompt) => streamed.relay(prompt))
    end = prompts.every(({ isWhole }) => isWhole) ? 'whole' : 'abandoned'
    sender.end(end === 'whole' ? stream.finish() : '')
  } catch (error) {
    end = calls.isAbandoned ? 'abandoned' : 'broken'
    if (end === 'broken' && !answer.isOpen) {
      if (error instanceof UpstreamRefusalError || error instanceof CallCutError) {
        billAnsweredPrompts(exchange, bill, { prompts, endOf: (prompt) => promptEnd(prompt, 'broken', stream) })
      }
      throw error instanceof ChatStreamBrokenError ? new UpstreamFailedError({ cause: error }) : error
    }
    sender.end(end === 'broken' ? errorEvent(error) : '')
  } finally {
    sender.stop()
    calls.stopWaiting()
  }
  request.note({ streamEnd: end })
  billPrompts(
    exchange,
    bill,
    prompts.map((prompt) => promptEnd(prompt, end, stream)),
  )
}

function promptEnd(prompt: PromptRun, end: StreamEnd, stream: CompletionStream): PromptEnd {
  const { usage, answered, underWay } = stream.progress(prompt.promptIndex)
  if (prompt.isWhole) {
    return { kind: 'whole', usage }
  }
  if (!prompt.isSent) {
    return { kind: 'unsent' }
  }
  const ended = answered.map((call) => ({ ...call, kind: 'ended' as const }))
  const last = { ...underWay, kind: end === 'abandoned' ? ('abandoned' as const) : ('broken' as const) }
  const { cut, isUnderWay } = prompt
  return { kind: 'partial', calls: [...ended, ...(cut === undefined ? [] : [cut]), ...(isUnderWay ? [last] : [])] }
}

/** One event: the upstream's own words, where it has any about the request. */
function errorEvent(error: unknown): string {
  const text = error instanceof ChatStreamBrokenError ? error.payload : undefined
  const refusal = error instanceof UpstreamRefusalError ? error.text : undefined
  return `data: ${errorPayload(text ?? refusal) ?? BROKEN_ANSWER}\n\n`
}

/** On one line, as an event needs it. Undefined for text that is no JSON object with an error. */
function errorPayload(text: string | undefined): string | undefined {
  try {
    const parsed: unknown = JSON.parse(text ?? '')
    const isError = typeof parsed === 'object' && parsed !== null && 'error' in parsed
    return isError ? JSON.stringify({ error: parsed.error }) : undefined
  } catch {
    return undefined
  }
}
