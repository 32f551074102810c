import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { isJsonObject, type JsonObject, parseJsonObject } from '#core/json/parse-json-text.ts'
import { createMp4Scanner } from '#core/mp4.ts'
import { type GatewayClient, outOfTime, SmokeFailure, withoutQuery } from './gateway-client.ts'

/** The outcome of one step. */
export type StepVerdict = {
  readonly name: string
  readonly verdict: 'passed' | 'failed' | 'skipped'
  readonly milliseconds: number
  /** The result or the failure; never the key. */
  readonly text: string
  /** Where to look after a failure. */
  readonly lookAt?: string
}

/** Receives progress while the test runs. */
export type SmokeObserver = {
  /** Called before money is spent. */
  announce(text: string): void
  progress(status: string): void
  end(step: StepVerdict): void
}

/** The result of a step: a value for later steps, and a string for the report. */
export type StepResult<Value> = { readonly value: Value; readonly text: string }

/** Runs steps one after the other and records their verdicts. A failure becomes a verdict, not an exception. */
export class StepRunner {
  readonly steps: StepVerdict[] = []
  readonly #observer: SmokeObserver
  readonly #secret: string

  constructor(observer: SmokeObserver, secret: string) {
    this.#observer = observer
    this.#secret = secret
  }

  /** Returns undefined if the step failed, or was skipped because `work` is undefined after an earlier failure. */
  async step<Value>(name: string, work: (() => Promise<StepResult<Value>>) | undefined): Promise<Value | undefined> {
    if (work === undefined) {
      this.#end({ name, verdict: 'skipped', milliseconds: 0, text: 'an earlier step failed' })
      return undefined
    }
    const startedAt = performance.now()
    const elapsed = () => Math.round(performance.now() - startedAt)
    try {
      const { value, text } = await work()
      this.#end({ name, verdict: 'passed', milliseconds: elapsed(), text })
      return value
    } catch (error) {
      this.#end({ name, verdict: 'failed', milliseconds: elapsed(), ...describe(error) })
      return undefined
    }
  }

  #end(step: StepVerdict): void {
    const redacted = { ...step, text: step.text.replaceAll(this.#secret, '[key]') }
    this.steps.push(redacted)
    this.#observer.end(redacted)
  }
}

function describe(error: unknown): Pick<StepVerdict, 'text' | 'lookAt'> {
  if (error instanceof SmokeFailure) {
    return { text: error.message, ...(error.lookAt === undefined ? {} : { lookAt: error.lookAt }) }
  }
  // The signal ends the read of a body with a TimeoutError.
  if (Object(error).name === 'TimeoutError') {
    return describe(outOfTime())
  }
  return { text: error instanceof Error ? `the response ended early: ${error.message}` : String(error) }
}

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

/** The path of the video jobs. */
export const JOBS = '/v1/video/generations'
const PROMPT = 'a paper city lights up at night'

/** The gateway's own fields of a job (docs/api.md, "Fetch a job"); all others come from the upstream. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'object',
  'status',
  'model',
  'created_at',
  'expires_at',
  'url',
  'duration_secs',
  'error',
])

/** Creates a video job from text; the value is its id. @throws SmokeFailure if the response is not a queued job. */
export async function createJob(client: GatewayClient, model: string): Promise<StepResult<string>> {
  const job = await client.json(JOBS, { status: 201, body: { model, prompt: PROMPT } })
  const { id, status, object } = job
  if (typeof id !== 'string' || status !== 'queued' || object !== 'video.generation') {
    throw new SmokeFailure(`POST ${JOBS} returned 201 without a queued job: ${JSON.stringify(job)}`)
  }
  return { value: id, text: `job ${id} of ${model}, ${status}` }
}

type Waiting = { readonly pollMilliseconds: number; readonly onStatus: (status: string) => void }

/** Polls until the job has ended; the client's signal bounds the time. @throws SmokeFailure unless the job succeeded. */
export async function waitForJob(client: GatewayClient, id: string, waiting: Waiting): Promise<StepResult<JsonObject>> {
  const startedAt = Date.now()
  for (;;) {
    const job = await client.json(`${JOBS}/${id}`, { status: 200 })
    const status = String(job.status)
    waiting.onStatus(status)
    if (status === 'succeeded') {
      return { value: job, text: `succeeded after ${((Date.now() - startedAt) / 1000).toFixed(0)} s` }
    }
    if (status !== 'queued' && status !== 'processing') {
      throw new SmokeFailure(
        `job ${id} is ${status}: ${String(job.error ?? 'without a reason')}`,
        'the log lines with this jobId, and its channel: its key in the channel secret, its base url, its balance',
      )
    }
    await delay(waiting.pollMilliseconds)
  }
}

/** Checks that the job has fields of the upstream beside those of the gateway. @throws SmokeFailure */
export async function checkPassthrough(job: JsonObject): Promise<StepResult<void>> {
  const fields = Object.keys(job).filter((name) => !OWN_FIELDS.has(name))
  if (fields.length === 0) {
    throw new SmokeFailure('the job has no field of the upstream', 'the log lines of the poll function')
  }
  return { value: undefined, text: `upstream fields: ${fields.join(', ')}` }
}

/** Downloads the video by its url, without the key. @throws SmokeFailure unless it is a complete MP4. */
export async function downloadVideo(client: GatewayClient, job: JsonObject): Promise<StepResult<void>> {
  if (typeof job.url !== 'string' || !URL.canParse(job.url)) {
    throw new SmokeFailure('the succeeded job has no url', 'the log lines of the get function')
  }
  const response = await client.download(job.url)
  const scanner = createMp4Scanner()
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    scanner.push(chunk)
    bytes += chunk.length
  }
  const { isMp4, hasMovie, isCut, durationSeconds } = scanner.finish()
  if (!isMp4 || !hasMovie || isCut) {
    const fault = isCut && isMp4 ? 'a truncated MP4' : 'not an MP4'
    throw new SmokeFailure(
      `${withoutQuery(job.url)} is ${fault} (${bytes} bytes)`,
      'the log lines of the store function',
    )
  }
  const seconds = durationSeconds === undefined ? '' : `, ${durationSeconds} s`
  return { value: undefined, text: `MP4 of ${bytes} bytes${seconds} from ${new URL(job.url).host}` }
}

/** Checks that the list of the newest jobs includes the new job. @throws SmokeFailure */
export async function findInList(client: GatewayClient, id: string): Promise<StepResult<void>> {
  const { data } = await client.json(`${JOBS}?limit=20`, { status: 200 })
  const jobs = Array.isArray(data) ? data.filter(isJsonObject) : []
  if (!jobs.some((job) => job.id === id)) {
    throw new SmokeFailure(`the list of ${jobs.length} jobs lacks job ${id}`, 'the log lines of the list function')
  }
  return { value: undefined, text: `among the newest ${jobs.length}` }
}
