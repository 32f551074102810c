import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { formatMark, imageCount, inputTokens, type Mark, outputTokens, readMark } from './marked-request.ts'

/** What an upstream does wrong. */
export const UPSTREAM_FAULTS = ['status 500', 'status 429', 'reset', 'reset in the middle'] as const
export type UpstreamFault = (typeof UPSTREAM_FAULTS)[number]

type EchoOptions = {
  /** Before each reply, and between two events of a stream. Default: no time. */
  readonly pauseMilliseconds?: (mark: Mark) => number
  /** Events of a stream. */
  readonly events?: number
  /** Asked once for each request. */
  readonly fault?: () => UpstreamFault | undefined
  /** Padding of each event of a stream, in bytes. */
  readonly paddingBytes?: number
}

/** An upstream that repeats the mark of each request in its reply, and reports the usage of that mark. */
export type EchoUpstream = { readonly origin: string; close(): Promise<void> }

/** Starts it on a free port. */
export async function startEchoUpstream(options: EchoOptions = {}): Promise<EchoUpstream> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const string = Buffer.concat(chunks).toString('utf8')
      const asked = { path: request.url ?? '', isStream: string.includes('"stream":true'), mark: readMark(string) }
      // A caller that leaves in the middle is no fault of the upstream.
      reply(response, asked, options).catch(() => response.destroy())
    })
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return {
    origin: `http://127.0.0.1:${port}`,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

type Asked = { readonly path: string; readonly isStream: boolean; readonly mark: Mark }

async function reply(response: ServerResponse, { path, isStream, mark }: Asked, options: EchoOptions): Promise<void> {
  const { pauseMilliseconds = () => 0, fault } = options
  const failure = fault?.()
  await pause(pauseMilliseconds(mark))
  if (failure === 'reset') {
    response.socket?.resetAndDestroy()
  } else if (failure === 'status 500' || failure === 'status 429') {
    sendJson(response, { error: { message: formatMark(mark) } }, Number(failure.slice(-3)))
  } else if (isStream) {
    await sendStream(response, mark, { ...options, isCut: failure === 'reset in the middle' })
  } else {
    sendJson(response, wholeReply(path, mark))
  }
}

function wholeReply(path: string, mark: Mark): object {
  const string = formatMark(mark)
  if (path.endsWith('/embeddings')) {
    const data = [{ object: 'embedding', index: 0, embedding: [mark.tenant, mark.request, 0.5] }]
    const usage = { prompt_tokens: inputTokens(mark), total_tokens: inputTokens(mark) }
    return { object: 'list', data, model: 'upstream', usage, echo: string }
  }
  if (path.endsWith('/images/generations')) {
    const b64_json = Buffer.from(string).toString('base64')
    return {
      created: 1_700_000_000,
      data: Array.from({ length: imageCount(mark) }, () => ({ b64_json, revised_prompt: string })),
    }
  }
  const message = { role: 'assistant', content: `${string} said` }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  return { ...head(mark), object: 'chat.completion', choices, usage: usageOf(mark) }
}

function head(mark: Mark): object {
  return { id: `chatcmpl-${formatMark(mark)}`, created: 1_700_000_000, model: 'upstream' }
}

function usageOf(mark: Mark): object {
  const [input, output] = [inputTokens(mark), outputTokens(mark)]
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
}

/** Events between two of which the caller may leave, or the upstream breaks off. */
const EVENTS = 6

type StreamOptions = EchoOptions & { readonly isCut: boolean }

async function sendStream(response: ServerResponse, mark: Mark, options: StreamOptions): Promise<void> {
  const { isCut, events = EVENTS, paddingBytes = 0, pauseMilliseconds = () => 0 } = options
  const padding = 'x'.repeat(paddingBytes)
  const event = (fields: object) =>
    `data: ${JSON.stringify({ ...head(mark), object: 'chat.completion.chunk', ...fields })}\n\n`
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let index = 0; index < events && !response.destroyed; index += 1) {
    const delta = { role: 'assistant', content: `${formatMark(mark)} ${padding}` }
    const isTaken = response.write(event({ choices: [{ index: 0, delta, finish_reason: null }] }))
    if (isCut && index > events / 2) {
      response.socket?.resetAndDestroy()
      return
    }
    if (!isTaken) {
      await Promise.race([once(response, 'drain'), once(response, 'close')])
    }
    await pause(pauseMilliseconds(mark))
  }
  const end = [
    event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    event({ choices: [], usage: usageOf(mark) }),
  ]
  response.end(`${end.join('')}data: [DONE]\n\n`)
}

async function pause(milliseconds: number): Promise<void> {
  await (milliseconds > 0 ? delay(milliseconds) : new Promise(setImmediate))
}

function sendJson(response: ServerResponse, body: object, status = 200): void {
  const bytes = Buffer.from(JSON.stringify(body))
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes)
}
