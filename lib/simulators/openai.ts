import { createHash } from 'node:crypto'
import type { ReceivedRequest } from './aws-account.ts'
import { countTokensEndpoint, messagesEndpoint, responsesEndpoint } from './openai-agents.ts'
import { bytesMinOf, chatEndpoint, newId } from './openai-chat.ts'
import {
  askedError,
  ERROR_EVENT,
  messagesError,
  type NamedEvent,
  type OpenAiEndpoint,
  OpenAiProblem,
  type OpenAiResponse,
  policyViolation,
  refusal,
  unknownModel,
} from './openai-endpoint.ts'
import { type OpenAiMagic, parseOpenAiMagic } from './openai-magic-words.ts'
import { embeddingsEndpoint, imagesEndpoint } from './openai-media.ts'
import { ResultFiles } from './result-files.ts'
import {
  bearerOf,
  type Exchange,
  hasBearer,
  type Simulator,
  type SimulatorPlace,
  type SimulatorRequest,
  startServer,
} from './server.ts'

/** A refusal of a caller, in whatever form the upstream has for it. */
export type CallerRefusal = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: object
}

/** Options of a simulated OpenAI-style upstream. */
export type OpenAiSimulatorOptions = SimulatorPlace & {
  /** Refuses callers in place of the check of a key. Undefined admits one. */
  readonly refuse?: ((request: ReceivedRequest) => CallerRefusal | undefined) | undefined
  /** Between two events of a stream; 15 by default, so that streaming is visible. */
  readonly gapMilliseconds?: number
}

const BASE_PATH = '/v1'
const GAP_MILLISECONDS = 15
/** Bounds the time of a socket, so that a typing error does not hold one for a day. */
const WAIT_SECONDS_MAX = 300
/** Events before `[cut]`, `[silent]`, `[error-mid]` and `[bad-json]` take effect: a role and two words. */
const MIDDLE_OF_STREAM = 3
/** Most remembered prompts that `[error-once:STATUS]` has refused. */
const ONCE_PROMPTS_MAX = 10_000

/** Starts a simulated OpenAI-style upstream; its `baseUrl` ends in `/v1`. Rejects if the port is taken. */
export async function startOpenAiSimulator(options: OpenAiSimulatorOptions = {}): Promise<Simulator> {
  const upstream = new OpenAiUpstream(options)
  const server = await startServer(options, (request, exchange, body) => upstream.handle(request, exchange, body))
  return { ...server, baseUrl: `${server.baseUrl}${BASE_PATH}` }
}

/** The outcome of a request: a response or a refusal, and the magic words of its prompt. */
type Decision = { readonly response: OpenAiResponse | OpenAiProblem; readonly magic: OpenAiMagic }

class OpenAiUpstream {
  readonly #options: OpenAiSimulatorOptions
  readonly #now: () => number
  readonly #files: ResultFiles
  readonly #routes = new Map([
    ['/chat/completions', this.#route(chatEndpoint)],
    ['/responses', this.#route(responsesEndpoint)],
    ['/messages', this.#route(messagesEndpoint)],
    ['/messages/count_tokens', this.#route(countTokensEndpoint)],
    ['/embeddings', this.#route(embeddingsEndpoint)],
    ['/images/generations', this.#route(imagesEndpoint)],
  ])
  /** Digests, since a prompt may be long. */
  readonly #refusedOnce = new Set<string>()

  constructor(options: OpenAiSimulatorOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#files = new ResultFiles(this.#now)
  }

  async handle(request: SimulatorRequest, exchange: Exchange, body: string): Promise<void> {
    const startedAt = performance.now()
    const refused = this.#options.refuse?.({ ...request, body })
    if (refused !== undefined) {
      exchange.send(refused.status, { 'content-type': JSON_TYPE, ...refused.headers }, JSON.stringify(refused.body))
      return
    }
    if (await this.#files.serve(request, exchange)) {
      return
    }
    const { response, magic } = this.#decide(request, exchange.origin)
    await exchange.wait(millisecondsOf(magic, 'slow'))
    if (magic.has('reset')) {
      exchange.reset()
    } else if (!magic.has('hang')) {
      const elapsed = Math.max(1, Math.round(performance.now() - startedAt))
      const requestId = newId('req_')
      const isOfMessages = request.path.startsWith(`${BASE_PATH}/messages`)
      const headers = {
        'x-request-id': requestId,
        'openai-processing-ms': elapsed,
        ...(isOfMessages ? { 'request-id': requestId } : {}),
      }
      await new Writer(exchange, magic, headers).write(response, this.#options.gapMilliseconds ?? GAP_MILLISECONDS)
    }
  }

  #decide(request: SimulatorRequest, origin: string): Decision {
    try {
      const shown = withApiKey(request)
      if (this.#options.refuse === undefined && !hasBearer(shown, this.#options.apiKey)) {
        throw unauthorized(bearerOf(shown.headers))
      }
      const { pathname } = new URL(request.path, origin)
      // A channel may have the version in its paths, beside that of the base url here.
      const path = /\/v1(\/(?!(?:.*\/)?v1\/).*)$/.exec(pathname)?.[1] ?? ''
      const [isModels, modelId] = /^\/models(?:\/(.*))?$/.exec(path) ?? []
      const route = this.#routes.get(path)
      if (route === undefined && isModels === undefined) {
        throw refusal(404, `Invalid URL (${request.method} ${pathname}): this simulated upstream has no such API`)
      }
      if (request.method !== (route === undefined ? 'GET' : 'POST')) {
        throw refusal(405, `Not allowed to ${request.method} on ${pathname}.`)
      }
      return route?.(request, origin) ?? { response: modelsResponse(modelId), magic: NO_MAGIC }
    } catch (error) {
      if (error instanceof OpenAiProblem) {
        return { response: error, magic: NO_MAGIC }
      }
      throw error
    }
  }

  #route<Body extends { readonly model: string }>(endpoint: OpenAiEndpoint<Body>) {
    return (request: SimulatorRequest, origin: string): Decision => {
      const body = endpoint.parse(request.body)
      const prompt = endpoint.promptOf(body)
      const asked = parseOpenAiMagic(prompt)
      // A model id such as `small [error:500]` asks for a failure where the prompt asks for nothing.
      const magic = asked.isPlain ? { ...parseOpenAiMagic(body.model), prose: asked.prose } : asked
      const problem = this.#askedProblem(prompt, magic, body.model)
      return { response: problem ?? endpoint.respond(body, { magic, nowMs: this.#now(), origin }), magic }
    }
  }

  #askedProblem(prompt: string, magic: OpenAiMagic, model: string): OpenAiProblem | undefined {
    const once = askedError(magic, 'error-once', model)
    const policy = magic.has('policy') ? policyViolation(magic.text('policy') === 'nested') : undefined
    return askedError(magic, 'error', model) ?? (once && this.#isFirst(prompt) ? once : policy)
  }

  #isFirst(prompt: string): boolean {
    const digest = createHash('sha256').update(prompt).digest('base64')
    if (this.#refusedOnce.has(digest)) {
      return false
    }
    if (this.#refusedOnce.size >= ONCE_PROMPTS_MAX) {
      this.#refusedOnce.clear()
    }
    this.#refusedOnce.add(digest)
    return true
  }
}

/** For requests without a prompt. */
const NO_MAGIC = parseOpenAiMagic('')

/** Messages take their key in a header of its own. */
function withApiKey(request: SimulatorRequest): SimulatorRequest {
  const key = request.headers['x-api-key']
  return key === undefined ? request : { ...request, headers: { ...request.headers, authorization: `Bearer ${key}` } }
}

/** Real upstreams show only both ends of a key. */
function unauthorized(token: string | undefined): OpenAiProblem {
  return token === undefined
    ? refusal(401, "You didn't provide an API key.")
    : refusal(401, `Incorrect API key provided: ${token.slice(0, 4)}****${token.slice(-3)}.`, 'invalid_api_key')
}

/** The listed models; every other name is accepted too. */
const MODELS = [
  ...['chat-default', 'text-embedding-3-small', 'text-embedding-3-large', 'text-embedding-ada-002'],
  ...['image-v3', 'image-v2'],
]

/** `GET /models`, and `GET /models/{id}` with the raw id of the path. @throws OpenAiProblem (404) for an unlisted model. */
function modelsResponse(encodedId: string | undefined): OpenAiResponse {
  const rows = MODELS.map((id) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'simulator' }))
  if (encodedId === undefined) {
    return { body: { object: 'list', data: rows } }
  }
  const body = rows.find(({ id }) => encodeURIComponent(id) === encodedId)
  if (body === undefined) {
    throw unknownModel(encodedId)
  }
  return { body }
}

function millisecondsOf(magic: OpenAiMagic, word: 'slow' | 'silent'): number {
  return (magic.number(word, WAIT_SECONDS_MAX) ?? 0) * 1000
}

const JSON_TYPE = 'application/json'
const HTML = '<!doctype html><html><head><title>Welcome</title></head><body>It works!</body></html>\n'
/** An event with invalid JSON: `[bad-json]`. */
const BROKEN_EVENT = '{"id":"chatcmpl-'
/** Pause between two slices, so that they travel as packets of their own. */
const SLICE_PAUSE_MILLISECONDS = 2

/** Events before the middle of what is generated: two words, as in a chat. Several events come before the first. */
function middleOf(events: readonly NamedEvent[]): number {
  const first = events.findIndex(({ type }) => /(\.|content_block_)delta$/.test(type))
  return first === -1 ? MIDDLE_OF_STREAM : first + MIDDLE_OF_STREAM - 1
}

/** Writes a response with the effects of its magic words. */
class Writer {
  readonly #exchange: Exchange
  readonly #magic: OpenAiMagic
  readonly #headers: Readonly<Record<string, string | number>>
  readonly #pauseMilliseconds: number
  /** The connection breaks after as many events: those of `[cut:N]`, or, of `[cut]`, those before the middle. */
  readonly #cutAfter: number | 'middle' | undefined

  constructor(exchange: Exchange, magic: OpenAiMagic, headers: Readonly<Record<string, string | number>>) {
    this.#exchange = exchange
    this.#magic = magic
    this.#headers = headers
    this.#pauseMilliseconds = millisecondsOf(magic, 'silent')
    this.#cutAfter = magic.has('cut') ? (magic.number('cut', Number.MAX_SAFE_INTEGER) ?? 'middle') : undefined
  }

  async write(response: OpenAiResponse | OpenAiProblem, gapMilliseconds: number): Promise<void> {
    if (response instanceof OpenAiProblem) {
      const { headers, error } = response
      const requestId = this.#headers['request-id']
      const { status, body } =
        requestId === undefined
          ? { status: response.status, body: { error } }
          : messagesError(response, String(requestId))
      await this.#whole(status, { 'content-type': JSON_TYPE, ...headers }, JSON.stringify(body))
    } else if (this.#magic.has('html')) {
      await this.#whole(200, { 'content-type': 'text/html; charset=utf-8' }, HTML)
    } else if ('events' in response || 'named' in response) {
      await this.#events(response, this.#magic.number('gap', WAIT_SECONDS_MAX * 1000) ?? gapMilliseconds)
    } else {
      const text = JSON.stringify(response.body)
      const end = this.#magic.has('bad-json') ? Math.floor((text.length * 2) / 3) : text.length
      await this.#whole(200, { 'content-type': JSON_TYPE }, text.slice(0, end))
    }
  }

  /** A body at once, unless the magic words enlarge, interrupt or truncate it. */
  async #whole(status: number, headers: Readonly<Record<string, string>>, text: string): Promise<void> {
    // White space after a JSON value does not change the value.
    const padding = Math.max(0, bytesMinOf(this.#magic) - Buffer.byteLength(text))
    const bytes = Buffer.concat([Buffer.from(text), Buffer.alloc(padding, ' ')])
    const middle = Math.floor(bytes.length / 2)
    this.#exchange.open(status, { ...headers, ...this.#headers, 'content-length': bytes.length })
    if (this.#cutAfter !== 0) {
      await this.#bytes(bytes.subarray(0, middle))
    }
    await this.#exchange.wait(this.#pauseMilliseconds)
    if (this.#cutAfter !== undefined) {
      this.#exchange.cut()
      return
    }
    await this.#bytes(bytes.subarray(middle))
    this.#exchange.end()
  }

  /** Server-sent events one by one. */
  async #events(response: Exclude<OpenAiResponse, { body: unknown }>, gapMilliseconds: number): Promise<void> {
    const isNamed = 'named' in response
    const events: readonly unknown[] = isNamed ? response.named : response.events
    const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
    this.#exchange.open(200, { ...headers, ...this.#headers })
    const middle = isNamed ? middleOf(response.named) : MIDDLE_OF_STREAM
    const sent = events.slice(0, this.#cutAfter === 'middle' ? middle : this.#cutAfter)
    for (const [count, event] of sent.entries()) {
      if (count === middle) {
        await this.#exchange.wait(this.#pauseMilliseconds)
        if (this.#magic.has('bad-json')) {
          await this.#event(BROKEN_EVENT)
        }
        if (this.#magic.has('error-mid')) {
          await this.#event(
            JSON.stringify(isNamed ? response.failure : ERROR_EVENT),
            isNamed ? response.failure.type : '',
          )
          this.#exchange.end()
          return
        }
      }
      await this.#exchange.wait(count === 0 ? 0 : gapMilliseconds)
      // With `[multi-data]`, each line of formatted JSON becomes a `data` line.
      const name = isNamed ? response.named[count]?.type : ''
      await this.#event(JSON.stringify(event, null, this.#magic.has('multi-data') ? 1 : 0), name)
    }
    if (this.#cutAfter !== undefined) {
      this.#exchange.cut()
      return
    }
    if (!(isNamed || this.#magic.has('no-done'))) {
      await this.#event('[DONE]')
    }
    this.#exchange.end()
  }

  async #event(data: string, name = ''): Promise<void> {
    const prefix = this.#magic.has('no-space') ? 'data:' : 'data: '
    const comment = this.#magic.has('comments') ? [': PING', ''] : []
    const named = name === '' ? [] : [`event: ${name}`]
    const lines = [...comment, ...named, ...data.split('\n').map((line) => `${prefix}${line}`), '']
    const end = this.#magic.has('crlf') ? '\r\n' : '\n'
    await this.#bytes(Buffer.from(lines.map((line) => `${line}${end}`).join('')))
  }

  /** With `[slices]`, the slices end inside characters and before the last byte, that is between two ends of line. */
  async #bytes(bytes: Buffer): Promise<void> {
    if (!this.#magic.has('slices')) {
      await this.#exchange.write(bytes)
      return
    }
    for (const slice of bytes.toString('latin1').split(/(?<=[\xc0-\xff])|(?=.$)/s)) {
      await this.#exchange.write(Buffer.from(slice, 'latin1'))
      await this.#exchange.wait(SLICE_PAUSE_MILLISECONDS)
    }
  }
}
