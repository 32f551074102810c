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

/** Sends a chat request and reports the length and the tokens of the response. */
export async function chatWhole(client: GatewayClient, model: string): Promise<StepResult<void>> {
  const body = { model, messages: MESSAGES, max_tokens: MAX_TOKENS }
  const response = await client.json(CHAT, { status: 200, body })
  const text = textOf(response, 'message')
  if (text === '') {
    throw new SmokeFailure(`the chat response has no text: ${JSON.stringify(response).slice(0, 300)}`, LOOK_AT_RELAY)
  }
  const usage = isJsonObject(response.usage) ? `, ${String(response.usage.total_tokens)} tokens` : ''
  return { value: undefined, text: `${model} returned ${text.length} characters${usage}` }
}

/** Streams a chat up to `[DONE]` and reports the times of its events. Without response streaming, all events arrive at once. */
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
    const fault = seen.isDone ? 'has no text' : 'ended before [DONE]'
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
  // Each event of the relay is one line.
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

/** @throws SmokeFailure if the event is not a JSON object. */
function parseEvent(data: string): JsonObject {
  const event = parseJsonObject(data)
  if (event === undefined) {
    throw new SmokeFailure(
      `the streamed chat has an event that is not a JSON object: ${data.slice(0, 200)}`,
      LOOK_AT_RELAY,
    )
  }
  return event
}

/** The text of the first choice, from the message or from the delta of a stream. */
function textOf(response: JsonObject, field: 'message' | 'delta'): string {
  const [choice]: unknown[] = Array.isArray(response.choices) ? response.choices : []
  const part = isJsonObject(choice) ? choice[field] : undefined
  const content = isJsonObject(part) ? part.content : undefined
  return typeof content === 'string' ? content : ''
}
