import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { isJsonObject, type JsonObject, parseJsonObject } from '#core/json/json-object.ts'
import type { GatewayClient } from './gateway-client.ts'
import { SmokeFailure } from './smoke-failure.ts'
import type { StepResult } from './step-runner.ts'

const CHAT = '/v1/chat/completions'
const MESSAGES = [{ role: 'user', content: 'Say hello in five words.' }]
/** Keeps the price of a response small. */
const MAX_TOKENS = 64

const LOOK_AT_RELAY = 'the log line "request" of the chat function, by its x-request-id'

/** A chat answered in one piece, with what it cost. */
export async function chatWhole(client: GatewayClient, model: string): Promise<StepResult<void>> {
  const body = { model, messages: MESSAGES, max_tokens: MAX_TOKENS }
  const answer = await client.json(CHAT, { status: 200, body })
  const text = textOf(answer, 'message')
  if (text === '') {
    throw new SmokeFailure(`the chat answered no text: ${JSON.stringify(answer).slice(0, 300)}`, LOOK_AT_RELAY)
  }
  const usage = isJsonObject(answer.usage) ? `, ${String(answer.usage.total_tokens)} tokens` : ''
  return { value: undefined, text: `${model} answered ${text.length} characters${usage}` }
}

/** A chat that streams: events as they come, up to `[DONE]`. Where nothing can stream it comes in one piece, which is told. */
export async function chatStreamed(client: GatewayClient, model: string): Promise<StepResult<void>> {
  const startedAt = performance.now()
  const body = { model, messages: MESSAGES, max_tokens: MAX_TOKENS, stream: true }
  const response = await client.send(CHAT, { status: 200, body })
  const type = response.headers.get('content-type') ?? 'none'
  if (!type.startsWith('text/event-stream')) {
    throw new SmokeFailure(`the streamed chat has the content type ${type}`, LOOK_AT_RELAY)
  }
  const seen = await readEvents(response, startedAt)
  if (seen.text === '' || !seen.isDone) {
    const fault = seen.isDone ? 'has no text' : 'broke off before [DONE]'
    throw new SmokeFailure(`the streamed chat ${fault} after ${seen.events} events`, LOOK_AT_RELAY)
  }
  const first = `first text after ${seen.firstMilliseconds} ms`
  return { value: undefined, text: `${seen.events} events, ${first}, the last after ${seen.lastMilliseconds} ms` }
}

async function readEvents({ body }: Response, startedAt: number) {
  const seen = { events: 0, text: '', isDone: false, firstMilliseconds: 0, lastMilliseconds: 0 }
  if (body === null) {
    return seen
  }
  // Lines of an event stream; an event of the relay is one of them.
  for await (const line of createInterface({ input: Readable.fromWeb(body) })) {
    if (!line.startsWith('data:')) {
      continue
    }
    const data = line.slice('data:'.length).trim()
    if (data === '[DONE]') {
      seen.isDone = true
      continue
    }
    seen.events += 1
    seen.text += textOf(parseEvent(data), 'delta')
    seen.lastMilliseconds = Math.round(performance.now() - startedAt)
    if (seen.text !== '' && seen.firstMilliseconds === 0) {
      seen.firstMilliseconds = seen.lastMilliseconds
    }
  }
  return seen
}

/** @throws SmokeFailure for an event that is no JSON object. */
function parseEvent(data: string): JsonObject {
  const event = parseJsonObject(data)
  if (event === undefined) {
    throw new SmokeFailure(
      `the streamed chat has an event that is no JSON object: ${data.slice(0, 200)}`,
      LOOK_AT_RELAY,
    )
  }
  return event
}

/** The text of the first choice: of its message, or of a stream's delta. */
function textOf(answer: JsonObject, member: 'message' | 'delta'): string {
  const [choice]: unknown[] = Array.isArray(answer.choices) ? answer.choices : []
  const part = isJsonObject(choice) ? choice[member] : undefined
  const content = isJsonObject(part) ? part.content : undefined
  return typeof content === 'string' ? content : ''
}
