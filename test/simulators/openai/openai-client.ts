import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { type OpenAiSimulatorOptions, startOpenAiSimulator } from '../../../lib/simulators/openai/openai-simulator.ts'
import type { Simulator } from '../../../lib/simulators/shared/simulator-server.ts'
import { type ClientAnswer, call, TestClock } from '../shared/simulator-client.ts'

/** A running OpenAI-style upstream with a clock of its own and no gap between events. */
export type OpenAiClient = {
  readonly simulator: Simulator
  readonly clock: TestClock
  post(path: string, body: unknown): Promise<ClientAnswer>
  /** A chat with one message of the user. */
  chat(prompt: string, more?: object): Promise<ClientAnswer>
  /** The same over a socket of its own: what came, byte for byte. */
  rawChat(prompt: string, more?: object): Promise<RawAnswer>
}

/** What came over a socket until the upstream closed it. */
export type RawAnswer = {
  /** Status line and headers. */
  readonly head: string
  /** As the upstream wrote them: one entry for each chunk of the transfer encoding, else one. */
  readonly pieces: readonly { readonly bytes: Buffer; readonly atMilliseconds: number }[]
  readonly text: string
  /** Whether the answer came to its own end, as its framing says. */
  readonly isWhole: boolean
  readonly wasReset: boolean
  /** Milliseconds until the first byte. */
  readonly firstByteMilliseconds: number
}

export function chatBody(prompt: string, more: object = {}) {
  return { model: 'chat-a', messages: [{ role: 'user', content: prompt }], ...more }
}

/** Starts an OpenAI-style upstream for the time of `use`. */
export async function withOpenAi(
  options: OpenAiSimulatorOptions,
  use: (client: OpenAiClient) => Promise<void>,
): Promise<void> {
  const clock = new TestClock()
  const simulator = await startOpenAiSimulator({ now: clock.now, gapMilliseconds: 0, ...options })
  const post: OpenAiClient['post'] = (path, body) => call(simulator, `/v1${path}`, { method: 'POST', body })
  try {
    await use({
      simulator,
      clock,
      post,
      chat: (prompt, more) => post('/chat/completions', chatBody(prompt, more)),
      rawChat: (prompt, more) => rawPost(simulator.port, chatBody(prompt, more)),
    })
  } finally {
    await simulator.close()
  }
}

/** The JSON of every event of a stream, without `[DONE]`. */
export function eventsOf(text: string): readonly unknown[] {
  return dataOf(text).flatMap((data) => (data === '[DONE]' ? [] : [JSON.parse(data)]))
}

/** The data of every event, its lines joined, by the rules of server-sent events. */
export function dataOf(text: string): readonly string[] {
  const blocks = text.replaceAll('\r\n', '\n').split('\n\n')
  return blocks.flatMap((block) => {
    const lines = block.split('\n').filter((line) => line.startsWith('data:'))
    return lines.length === 0 ? [] : [lines.map((line) => line.replace(/^data: ?/, '')).join('\n')]
  })
}

type Recorded = {
  readonly request: { readonly path: string; readonly body: unknown }
  readonly response: { readonly status: number; readonly body?: unknown; readonly body_text?: string }
}

/** A recorded exchange, by the name of its file without `oai_`. */
export function openAiFixture(name: string): Recorded {
  const file = new URL(`../../fixtures/upstream/oai_${name}.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** Posts a chat over a socket of its own and reads until the upstream closes it. */
export function rawPost(port: number, body: unknown): Promise<RawAnswer> {
  const json = JSON.stringify(body)
  const request = [
    'POST /v1/chat/completions HTTP/1.1',
    'host: localhost',
    'authorization: Bearer TEST_KEY',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(json)}`,
    'connection: close',
    '',
    json,
  ].join('\r\n')
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const startedAt = performance.now()
    const arrived: { bytes: Buffer; atMilliseconds: number }[] = []
    let wasReset = false
    socket.setNoDelay(true)
    socket.once('connect', () => socket.write(request))
    socket.on('data', (bytes) => arrived.push({ bytes, atMilliseconds: performance.now() - startedAt }))
    socket.on('error', (error) => {
      wasReset = 'code' in error && error.code === 'ECONNRESET'
    })
    socket.once('close', () => resolve({ ...readAnswer(arrived), wasReset }))
  })
}

type Arrived = RawAnswer['pieces']

function readAnswer(arrived: Arrived): Omit<RawAnswer, 'wasReset'> {
  const all = Buffer.concat(arrived.map(({ bytes }) => bytes))
  const headEnd = all.indexOf('\r\n\r\n')
  const head = headEnd < 0 ? '' : all.toString('latin1', 0, headEnd)
  const bodyStart = headEnd < 0 ? all.length : headEnd + 4
  const read = /transfer-encoding: chunked/i.test(head) ? readChunks(all, bodyStart) : readSized(all, bodyStart, head)
  const pieces = read.pieces.map(({ bytes, end }) => ({ bytes, atMilliseconds: arrivalOf(arrived, end) }))
  return {
    head,
    pieces,
    text: Buffer.concat(pieces.map(({ bytes }) => bytes)).toString('utf8'),
    isWhole: read.isWhole,
    firstByteMilliseconds: arrived[0]?.atMilliseconds ?? Number.POSITIVE_INFINITY,
  }
}

type Pieces = { readonly pieces: readonly { bytes: Buffer; end: number }[]; readonly isWhole: boolean }

function readChunks(all: Buffer, bodyStart: number): Pieces {
  const pieces: { bytes: Buffer; end: number }[] = []
  let offset = bodyStart
  while (offset < all.length) {
    const lineEnd = all.indexOf('\r\n', offset)
    const size = Number.parseInt(all.toString('latin1', offset, lineEnd), 16)
    if (size === 0) {
      return { pieces, isWhole: true }
    }
    const end = lineEnd + 2 + size
    pieces.push({ bytes: all.subarray(lineEnd + 2, end), end })
    offset = end + 2
  }
  return { pieces, isWhole: false }
}

function readSized(all: Buffer, bodyStart: number, head: string): Pieces {
  const size = Number(/content-length: (\d+)/i.exec(head)?.[1])
  return { pieces: [{ bytes: all.subarray(bodyStart), end: all.length }], isWhole: all.length - bodyStart === size }
}

/** When the byte before `end` came. */
function arrivalOf(arrived: Arrived, end: number): number {
  let total = 0
  for (const { bytes, atMilliseconds } of arrived) {
    total += bytes.length
    if (total >= end) {
      return atMilliseconds
    }
  }
  return Number.POSITIVE_INFINITY
}
