import { ERROR_EVENT } from './openai-errors.ts'
import { MIDDLE_OF_STREAM, type OpenAiFlag, type OpenAiMagic } from './openai-magic-prompt.ts'
import type { PacedResponse } from './openai-paced-response.ts'

/** An event with invalid JSON: `[bad-json]`. */
const BROKEN_EVENT = '{"id":"chatcmpl-'

const DONE = '[DONE]'

/** The next action of a stream. */
type Step = { readonly send: string } | { readonly waitMilliseconds: number } | 'cut'

type StreamOptions = {
  readonly magic: OpenAiMagic
  /** Between two events, unless the prompt sets another gap. */
  readonly gapMilliseconds: number
}

/** Writes server-sent events one by one, with the effects of the magic words. */
export async function writeEventStream(
  paced: PacedResponse,
  events: Iterable<unknown>,
  { magic, gapMilliseconds }: StreamOptions,
): Promise<void> {
  paced.open(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
  for (const step of stepsOf(events, magic, magic.gapMilliseconds ?? gapMilliseconds)) {
    if (step === 'cut') {
      paced.cut()
      return
    }
    if ('waitMilliseconds' in step) {
      await paced.wait(step.waitMilliseconds)
      continue
    }
    const bytes = Buffer.from(eventText(step.send, magic.flags))
    await (magic.flags.has('slices') ? paced.writeSliced(bytes) : paced.write(bytes))
  }
  paced.end()
}

function* stepsOf(events: Iterable<unknown>, magic: OpenAiMagic, gapMilliseconds: number): Generator<Step> {
  let count = 0
  for (const event of events) {
    if (count === magic.cutAfter) {
      break
    }
    if (count === MIDDLE_OF_STREAM) {
      yield { waitMilliseconds: magic.pauseMilliseconds }
      if (magic.flags.has('bad-json')) {
        yield { send: BROKEN_EVENT }
      }
      if (magic.flags.has('error-mid')) {
        yield { send: JSON.stringify(ERROR_EVENT) }
        return
      }
    }
    yield { waitMilliseconds: count === 0 ? 0 : gapMilliseconds }
    yield { send: eventData(event, magic.flags) }
    count += 1
  }
  if (magic.cutAfter !== undefined) {
    yield 'cut'
  } else if (!magic.flags.has('no-done')) {
    yield { send: DONE }
  }
}

/** With `[multi-data]`, each line of formatted JSON becomes a `data` line. */
function eventData(event: unknown, flags: ReadonlySet<OpenAiFlag>): string {
  return flags.has('multi-data') ? JSON.stringify(event, null, 1) : JSON.stringify(event)
}

function eventText(data: string, flags: ReadonlySet<OpenAiFlag>): string {
  const prefix = flags.has('no-space') ? 'data:' : 'data: '
  const lines = [...data.split('\n').map((line) => `${prefix}${line}`), '']
  const comment = flags.has('comments') ? [': PING', ''] : []
  const end = flags.has('crlf') ? '\r\n' : '\n'
  return [...comment, ...lines].map((line) => `${line}${end}`).join('')
}
