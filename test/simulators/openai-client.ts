import { connect } from 'node:net'
import { type OpenAiSimulatorOptions, startOpenAiSimulator } from '../../lib/simulators/openai.ts'
import { startForTest } from './simulator-client.ts'

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
  const rawChat = (prompt: string, more?: object) => rawPost(simulator.port, JSON.stringify(chatBody(prompt, more)))
  return { simulator, clock, call, post, chat, rawChat }
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

function rawPost(port: number, body: string): Promise<RawResponse> {
  const head = 'POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer K\r\nconnection: close'
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
