import type { ServerResponse } from 'node:http'
import { hasBearer } from '../shared/bearer.ts'
import {
  type Simulator,
  type SimulatorRequest,
  type SimulatorResponse,
  startSimulatorServer,
} from '../shared/simulator-server.ts'
import { chatEndpoint } from './openai-chat.ts'
import { completionsEndpoint } from './openai-completions.ts'
import { embeddingsEndpoint } from './openai-embeddings.ts'
import type { OpenAiEndpoint, OpenAiLimits, OpenAiResponse } from './openai-endpoint.ts'
import { OpenAiProblem, unauthorized, unknownModel, unknownPath, wrongMethod } from './openai-errors.ts'
import { writeEventStream } from './openai-event-stream.ts'
import { newId } from './openai-id.ts'
import { answerImageRequest } from './openai-image-files.ts'
import { imagesEndpoint } from './openai-images.ts'
import { writeWholeBody } from './openai-json-response.ts'
import { type OpenAiMagic, parseOpenAiMagic } from './openai-magic-prompt.ts'
import { modelList, oneModel } from './openai-models.ts'
import { PacedResponse } from './openai-paced-response.ts'
import { AskedRefusals } from './openai-refusals.ts'

/** Options of a simulated OpenAI-style upstream. */
export type OpenAiSimulatorOptions = {
  /** 0, the default, takes a free port. */
  readonly port?: number
  /** 127.0.0.1 by default. */
  readonly host?: string
  /** The only accepted bearer token. By default, any non-empty token. */
  readonly apiKey?: string
  /** The known models. By default, any name. */
  readonly models?: readonly string[]
  /** Between two events of a stream; 15 by default, so that streaming is visible. */
  readonly gapMilliseconds?: number
  /** Most tokens of the messages (128,000) and of one completion (16,384). */
  readonly limits?: Partial<OpenAiLimits>
  /** Milliseconds since 1970; the system clock by default. */
  readonly now?: () => number
}

const BASE_PATH = '/v1'
const MODELS_PATH = '/models'
const GAP_MILLISECONDS = 15

/** Limits of a mid-sized chat model of 2025. */
const DEFAULT_LIMITS: OpenAiLimits = { contextTokensMax: 128_000, outputTokensMax: 16_384 }

/** Starts a simulated OpenAI-style upstream; its `baseUrl` ends in `/v1`. Rejects if the port is taken. */
export async function startOpenAiSimulator(options: OpenAiSimulatorOptions = {}): Promise<Simulator> {
  const upstream = new OpenAiUpstream(options)
  const server = await startSimulatorServer({
    port: options.port ?? 0,
    host: options.host ?? '127.0.0.1',
    handle: (request, origin) => upstream.answer(request, origin),
  })
  return { ...server, baseUrl: `${server.baseUrl}${BASE_PATH}` }
}

/** The outcome of a request: a response or a refusal, and the magic words of its prompt. */
type Decision = { readonly answer: OpenAiResponse | OpenAiProblem; readonly magic: OpenAiMagic }

/** For requests without a prompt. */
const NO_MAGIC = parseOpenAiMagic('')

class OpenAiUpstream {
  readonly #options: OpenAiSimulatorOptions
  readonly #limits: OpenAiLimits
  readonly #refusals = new AskedRefusals()
  readonly #routes: ReadonlyMap<string, (request: SimulatorRequest, origin: string) => Decision>

  constructor(options: OpenAiSimulatorOptions) {
    this.#options = options
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits }
    this.#routes = new Map([
      ['/chat/completions', this.#route(chatEndpoint)],
      ['/completions', this.#route(completionsEndpoint)],
      ['/embeddings', this.#route(embeddingsEndpoint)],
      ['/images/generations', this.#route(imagesEndpoint)],
    ])
  }

  answer(request: SimulatorRequest, origin: string): SimulatorResponse {
    const image = answerImageRequest(request, origin, this.#now())
    if (image !== undefined) {
      return image
    }
    const write = (response: ServerResponse) => {
      const paced = new PacedResponse(response)
      response.setHeader('x-request-id', newId('req_'))
      this.#write(paced, this.#decide(request, origin)).catch(() => response.destroy())
    }
    return { kind: 'raw', write }
  }

  #now(): number {
    return (this.#options.now ?? Date.now)()
  }

  #decide(request: SimulatorRequest, origin: string): Decision {
    try {
      if (!hasBearer(request.headers, this.#options.apiKey)) {
        throw unauthorized(/^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1])
      }
      const { pathname } = new URL(request.path, origin)
      const path = pathname.startsWith(`${BASE_PATH}/`) ? pathname.slice(BASE_PATH.length) : ''
      const route = this.#routes.get(path)
      if (route === undefined && path !== MODELS_PATH && !path.startsWith(`${MODELS_PATH}/`)) {
        throw unknownPath(request.method, pathname)
      }
      if (request.method !== (route === undefined ? 'GET' : 'POST')) {
        throw wrongMethod(request.method, pathname)
      }
      return route?.(request, origin) ?? { answer: this.#models(path), magic: NO_MAGIC }
    } catch (error) {
      if (error instanceof OpenAiProblem) {
        return { answer: error, magic: NO_MAGIC }
      }
      throw error
    }
  }

  #route<Body extends { readonly model: string }>(endpoint: OpenAiEndpoint<Body>) {
    return (request: SimulatorRequest, origin: string): Decision => {
      const body = endpoint.parse(request.body, this.#limits)
      if (this.#options.models?.includes(body.model) === false) {
        throw unknownModel(body.model)
      }
      const prompt = endpoint.promptOf(body)
      const magic = parseOpenAiMagic(prompt)
      const refusal = this.#refusals.answer({ prompt, magic, model: body.model })
      const context = { magic, limits: this.#limits, nowMilliseconds: this.#now(), origin }
      return { answer: refusal ?? endpoint.answer(body, context), magic }
    }
  }

  #models(path: string): OpenAiResponse {
    const { models } = this.#options
    return path === MODELS_PATH ? modelList(models) : oneModel(path.slice(MODELS_PATH.length + 1), models)
  }

  async #write(paced: PacedResponse, { answer, magic }: Decision): Promise<void> {
    await paced.wait(magic.delayMilliseconds)
    if (magic.silence === 'reset') {
      paced.reset()
    } else if (magic.silence === undefined) {
      await writeAnswer(paced, { answer, magic }, this.#options.gapMilliseconds ?? GAP_MILLISECONDS)
    }
  }
}

const JSON_TYPE = 'application/json'
const HTML = '<!doctype html><html><head><title>Welcome</title></head><body>It works!</body></html>\n'

async function writeAnswer(paced: PacedResponse, { answer, magic }: Decision, gapMilliseconds: number): Promise<void> {
  if (answer instanceof OpenAiProblem) {
    const { status, headers, error } = answer
    return writeWholeBody(paced, { status, contentType: JSON_TYPE, headers, text: JSON.stringify({ error }) }, magic)
  }
  if (magic.flags.has('html')) {
    return writeWholeBody(
      paced,
      { status: 200, contentType: 'text/html; charset=utf-8', headers: {}, text: HTML },
      magic,
    )
  }
  if (answer.kind === 'events') {
    return writeEventStream(paced, answer.events, { magic, gapMilliseconds })
  }
  const whole = JSON.stringify(answer.body)
  const text = magic.flags.has('bad-json') ? whole.slice(0, Math.floor((whole.length * 2) / 3)) : whole
  return writeWholeBody(paced, { status: 200, contentType: JSON_TYPE, headers: {}, text }, magic)
}
