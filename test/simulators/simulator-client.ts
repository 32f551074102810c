import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { type OpenAiSimulatorOptions, startOpenAiSimulator } from '../../lib/simulators/openai.ts'
import { startP1Simulator } from '../../lib/simulators/p1.ts'
import { startP2Simulator } from '../../lib/simulators/p2.ts'
import { startP2ProxySimulator } from '../../lib/simulators/p2-proxy.ts'
import type { Simulator, SimulatorPlace } from '../../lib/simulators/server.ts'
import { whenTestEnds } from '../runner/when-test-ends.ts'

/** A response of a simulator. `body` is the parsed JSON; look into it with `at`. */
export type ClientResponse = {
  readonly status: number
  readonly text: string
  readonly body: unknown
  readonly headers: Headers
}

/** A clock that stands until a test moves it. */
class TestClock {
  #nowMs = Date.UTC(2026, 3, 20, 9, 55, 17, 75)
  readonly now = (): number => this.#nowMs

  advanceSeconds(seconds: number): void {
    this.#nowMs += seconds * 1000
  }
}

/** Starts a simulator with a clock of its own, until the end of the test. */
export async function startForTest<Options extends SimulatorPlace>(
  start: (options: Options) => Promise<Simulator>,
  options: Options,
): Promise<{ simulator: Simulator; clock: TestClock; call: ReturnType<typeof callerOf> }> {
  const clock = new TestClock()
  const simulator = await start({ now: clock.now, ...options })
  whenTestEnds(() => simulator.close())
  return { simulator, clock, call: callerOf(simulator) }
}

type CallOptions = { readonly method?: string; readonly body?: unknown; readonly headers?: Record<string, string> }

/** Calls a simulator with a bearer token, as the gateway would. */
function callerOf({ baseUrl }: Simulator) {
  return async (path: string, { method, body, headers }: CallOptions = {}): Promise<ClientResponse> => {
    const response = await fetch(new URL(path, baseUrl), {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { authorization: 'Bearer TEST_KEY', 'content-type': 'application/json', ...headers },
      redirect: 'manual',
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, text, body: parsed(text), headers: response.headers }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Exchange = {
  readonly request: { readonly path: string; readonly body: unknown }
  readonly response: { readonly status: number; readonly body?: unknown; readonly body_text?: string }
}

/** A recorded exchange with a real upstream. */
export function recorded(name: string): Exchange {
  return JSON.parse(readFileSync(new URL(`../fixtures/upstream/${name}.json`, import.meta.url), 'utf8'))
}

/** A value deep inside, by names and indexes; undefined where the path ends early. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, name) => Object(inner)[name], value)
}

/** The structure of a JSON value: names and types of fields, without the values. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.slice(0, 1).map(shapeOf)
  }
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shapeOf(field)]))
  }
  return value === null ? 'null' : typeof value
}

/** A chat with one message of the user. */
const chatBody = (prompt: string, more: object = {}) => ({
  ...{ model: 'chat-a', messages: [{ role: 'user', content: prompt }] },
  ...more,
})

/** Starts an OpenAI-style upstream without a gap between events, until the end of the test. */
export async function useOpenAi(options: OpenAiSimulatorOptions = {}) {
  const { simulator, clock, call } = await startForTest(startOpenAiSimulator, { gapMilliseconds: 0, ...options })
  const post = (path: string, body: unknown) => call(`/v1${path}`, { method: 'POST', body })
  const chat = (prompt: string, more?: object) => post('/chat/completions', chatBody(prompt, more))
  /** The same over a socket of its own. */
  const rawPost = (path: string, body: unknown) => rawPostTo(simulator.port, path, JSON.stringify(body))
  const rawChat = (prompt: string, more?: object) => rawPost('/chat/completions', chatBody(prompt, more))
  return { simulator, clock, call, post, chat, rawPost, rawChat }
}

/** The data of every event, its lines joined, by the rules of server-sent events. */
export function dataOf(text: string): string[] {
  const blocks = text.replaceAll('\r\n', '\n').split('\n\n')
  const lines = blocks.map((block) => block.split('\n').filter((line) => line.startsWith('data:')))
  return lines
    .filter(({ length }) => length > 0)
    .map((data) => data.map((line) => line.replace(/^data: ?/, '')).join('\n'))
}

/** The JSON of every event of a stream, without `[DONE]`. */
export function eventsOf(text: string): unknown[] {
  return dataOf(text).flatMap((data) => (data === '[DONE]' ? [] : [JSON.parse(data)]))
}

/** What came over a socket until the upstream closed it. */
type RawResponse = {
  /** Status line and headers. */
  readonly head: string
  /** As the upstream wrote them: one entry for each chunk of the transfer encoding, else one. */
  readonly pieces: readonly { readonly bytes: Buffer; readonly atMs: number }[]
  readonly text: string
  /** Whether the response came to its own end, as its framing says. */
  readonly isWhole: boolean
  readonly wasReset: boolean
  readonly firstByteMs: number
}

function rawPostTo(port: number, path: string, body: string): Promise<RawResponse> {
  const head = `POST /v1${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer K\r\nconnection: close`
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1').setNoDelay(true)
    const startedAt = performance.now()
    const arrived: { bytes: Buffer; atMs: number }[] = []
    let wasReset = false
    socket.write(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
    socket.on('data', (bytes) => arrived.push({ bytes, atMs: performance.now() - startedAt }))
    socket.on('error', (error) => {
      wasReset = 'code' in error && error.code === 'ECONNRESET'
    })
    socket.once('close', () => resolve({ ...readResponse(arrived), wasReset }))
  })
}

function readResponse(arrived: RawResponse['pieces']): Omit<RawResponse, 'wasReset'> {
  const all = Buffer.concat(arrived.map(({ bytes }) => bytes))
  const headEnd = all.indexOf('\r\n\r\n')
  const head = headEnd < 0 ? '' : all.toString('latin1', 0, headEnd)
  const start = headEnd < 0 ? all.length : headEnd + 4
  const size = Number(/content-length: (\d+)/i.exec(head)?.[1])
  const { chunks, isWhole } = /transfer-encoding: chunked/i.test(head)
    ? readChunks(all, start)
    : { chunks: [{ bytes: all.subarray(start), end: all.length }], isWhole: all.length - start === size }
  const pieces = chunks.map(({ bytes, end }) => ({ bytes, atMs: arrivalOf(arrived, end) }))
  const text = Buffer.concat(pieces.map(({ bytes }) => bytes)).toString('utf8')
  return { head, pieces, text, isWhole, firstByteMs: arrived[0]?.atMs ?? Number.POSITIVE_INFINITY }
}

function readChunks(all: Buffer, start: number) {
  const chunks: { bytes: Buffer; end: number }[] = []
  for (let offset = start; offset < all.length; ) {
    const lineEnd = all.indexOf('\r\n', offset)
    const size = Number.parseInt(all.toString('latin1', offset, lineEnd), 16)
    const end = lineEnd + 2 + size
    if (size === 0) {
      return { chunks, isWhole: true }
    }
    chunks.push({ bytes: all.subarray(lineEnd + 2, end), end })
    offset = end + 2
  }
  return { chunks, isWhole: false }
}

/** When the byte before `end` came. */
function arrivalOf(arrived: RawResponse['pieces'], end: number): number {
  let total = 0
  const piece = arrived.find(({ bytes }) => {
    total += bytes.length
    return total >= end
  })
  return piece?.atMs ?? Number.POSITIVE_INFINITY
}

const P2_TASKS = '/api/v3/contents/generations/tasks'

/** The video providers: their paths, a text-to-video body, and where a submit response has the task id. */
const PROVIDERS = {
  p1: {
    start: startP1Simulator,
    submit: '/api/v1/services/aigc/video-generation/video-synthesis',
    task: '/api/v1/tasks/',
    id: ['output', 'task_id'],
    status: ['output', 'task_status'],
    url: ['output', 'video_url'],
    body: (prompt: string) => ({
      model: 'famB-1.1-t2v',
      input: { prompt },
      parameters: { resolution: '720P', ratio: '16:9', duration: 5 },
    }),
  },
  p2: {
    start: startP2Simulator,
    submit: P2_TASKS,
    task: `${P2_TASKS}/`,
    id: ['id'],
    status: ['status'],
    url: ['content', 'video_url'],
    body: (prompt: string) => ({
      model: 'famA-2-0-260128',
      content: [{ type: 'text', text: prompt }],
      ...{ resolution: '720p', ratio: '16:9', duration: 5, generate_audio: true, watermark: true },
    }),
  },
  'p2-proxy': {
    start: startP2ProxySimulator,
    submit: '/v1/video/generations',
    task: '/v1/video/generations/',
    id: ['task_id'],
    status: ['status'],
    url: ['video_url'],
    body: (prompt: string) => ({
      model: 'famA-2',
      prompt,
      ...{ duration: 5, resolution: '720p', aspect_ratio: '16:9' },
    }),
  },
}

/** The name of a simulated video provider. */
export type Provider = keyof typeof PROVIDERS
type Options = Parameters<typeof startP1Simulator>[0]

/** Starts a video provider, until the end of the test. */
export async function useVideo(provider: Provider, options: Options = {}) {
  const { start, submit: submitPath, task, ...wire } = PROVIDERS[provider]
  const { simulator, clock, call } = await startForTest(start, options)
  const bodyOf = (wish: unknown) => (typeof wish === 'string' ? wire.body(wish) : wish)
  /** Submits a body, or a prompt. */
  const submit = (wish: unknown, headers: Record<string, string> = { 'x-provider-async': 'enable' }) =>
    call(submitPath, { body: bodyOf(wish), headers })
  const begin = async (wish: unknown) => String(at((await submit(wish)).body, ...wire.id))
  const poll = (taskId: string) => call(`${task}${taskId}`)
  const statusOf = ({ body }: ClientResponse) => at(body, ...wire.status)
  const urlOf = ({ body }: ClientResponse) => String(at(body, ...wire.url))
  /** Submits, lets the task end, polls. */
  const finish = async (wish: unknown) => {
    const taskId = await begin(wish)
    clock.advanceSeconds(4)
    return poll(taskId)
  }
  return { simulator, clock, call, submit, begin, poll, finish, statusOf, urlOf, submitPath, task, body: wire.body }
}
