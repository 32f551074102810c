import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { RequestLog } from './request-log.ts'

/** A received request. `path` includes the query; `body` is the parsed JSON, or the string if it is not JSON. */
export type SimulatorRequest = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

/** A JSON body with its status. */
export type JsonResponse = {
  readonly kind: 'json'
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Delay in real seconds. */
  readonly delaySeconds?: number
}

/** The reaction of a simulator to a request. */
export type SimulatorResponse =
  | JsonResponse
  /** Writes the response itself, possibly incomplete. */
  | { readonly kind: 'raw'; readonly write: (response: ServerResponse) => void }
  /** Never responds. */
  | { readonly kind: 'hang' }
  /** Resets the connection. */
  | { readonly kind: 'reset' }

/** A running simulator. */
export type Simulator = {
  /** Without a final slash. */
  readonly baseUrl: string
  readonly port: number
  /** The newest requests, oldest first; bounded. */
  readonly requests: readonly SimulatorRequest[]
  /** Closes every connection; resolves when the port is free. */
  close(): Promise<void>
}

/** Above a request with nine inline images, the most that an upstream accepts. */
const REQUEST_BYTES_MAX = 256 * 1024 * 1024

type ServerOptions = {
  readonly port: number
  readonly host: string
  /** @param baseUrl the address of this server. */
  readonly handle: (request: SimulatorRequest, baseUrl: string) => SimulatorResponse
}

/** Starts an HTTP server that records each request and does what `handle` says. Rejects if the port is taken. */
export async function startSimulatorServer(options: ServerOptions): Promise<Simulator> {
  const log = new RequestLog<SimulatorRequest>()
  const closing = new AbortController()
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, resolve)
  })
  const address = server.address()
  const port = address !== null && typeof address === 'object' ? address.port : options.port
  const baseUrl = `http://${options.host}:${port}`
  const context = { handle: options.handle, baseUrl, log, signal: closing.signal }
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    serve(request, response, context).catch(() => response.destroy())
  })
  return {
    baseUrl,
    port,
    requests: log.entries,
    close: () =>
      new Promise((resolve) => {
        closing.abort()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

type ServeContext = {
  readonly handle: ServerOptions['handle']
  readonly baseUrl: string
  readonly log: RequestLog<SimulatorRequest>
  readonly signal: AbortSignal
}

async function serve(incoming: IncomingMessage, response: ServerResponse, context: ServeContext): Promise<void> {
  const text = await readText(incoming)
  const request = {
    method: incoming.method ?? 'GET',
    path: incoming.url ?? '/',
    headers: incoming.headers,
    body: parseBody(text),
  }
  context.log.add(request, text.length)
  const answer = context.handle(request, context.baseUrl)
  switch (answer.kind) {
    case 'json':
      if (answer.delaySeconds !== undefined) {
        await sleep(answer.delaySeconds * 1000, undefined, { signal: context.signal })
      }
      writeJson(response, answer)
      return
    case 'raw':
      answer.write(response)
      return
    case 'hang':
      return
    case 'reset':
      incoming.socket.resetAndDestroy()
      return
    default:
      answer satisfies never
  }
}

async function readText(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of incoming) {
    const bytes = Buffer.from(chunk)
    sizeBytes += bytes.length
    if (sizeBytes > REQUEST_BYTES_MAX) {
      throw new RequestTooLargeError()
    }
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The request body is too large; its connection is reset. */
class RequestTooLargeError extends Error {
  override readonly name = 'RequestTooLargeError'
}

function parseBody(text: string): unknown {
  if (text === '') {
    return undefined
  }
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function writeJson(response: ServerResponse, answer: JsonResponse): void {
  const bytes = Buffer.from(JSON.stringify(answer.body))
  response.writeHead(answer.status, {
    'content-type': 'application/json',
    ...answer.headers,
    'content-length': bytes.length,
  })
  response.end(bytes)
}
