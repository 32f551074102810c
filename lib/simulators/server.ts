import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

/** A received request. `path` includes the query; `body` is the parsed JSON, or the string if it is not JSON. */
export type SimulatorRequest = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

/** Where a simulator listens, and which caller it accepts. */
export type SimulatorPlace = {
  /** 0, the default, takes a free port. */
  readonly port?: number
  /** 127.0.0.1 by default. */
  readonly host?: string
  /** The only accepted bearer token. By default, any non-empty token. */
  readonly apiKey?: string
  /** Milliseconds since 1970; the system clock by default. */
  readonly now?: () => number
}

/** A running simulator. */
export type Simulator = {
  /** Without a final slash. */
  readonly baseUrl: string
  readonly port: number
  /** The newest requests, oldest first; bounded. */
  readonly requests: readonly SimulatorRequest[]
  /** Closes every connection; resolves when the port is free. */
  /** Breaks off every response. */
  hangUp(): void
  close(): Promise<void>
}

/** Handles a request, of which `body` is as it arrived. Without a response, the caller waits until the server closes. */
type Handler = (request: SimulatorRequest, exchange: Exchange, body: string) => Promise<void>

/** Headers of a response. */
export type Headers = Readonly<Record<string, string | number>>

/** Starts an HTTP server that records each request and lets `handle` respond. Rejects if the port is taken. */
export async function startServer(
  { port = 0, host = '127.0.0.1' }: SimulatorPlace,
  handle: Handler,
): Promise<Simulator> {
  const log = new RequestLog()
  const server = createServer(async (incoming, response) => {
    try {
      const body = await text(incoming)
      const { method = 'GET', url = '/', headers } = incoming
      const request = { method, path: url, headers, body: parsed(body) }
      log.add(request, body.length)
      await handle(request, new Exchange(response, baseUrl), body)
    } catch {
      // The client has left, or the server closes.
      response.destroy()
    }
  })
  // An idle connection that ends just when its client sends the next request is an error there.
  server.keepAliveTimeout = 0
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  const taken = address !== null && typeof address === 'object' ? address.port : port
  const baseUrl = `http://${host}:${taken}`
  const close = async () => {
    const closed = once(server.close(), 'close')
    server.closeAllConnections()
    await closed
  }
  return { baseUrl, port: taken, requests: log.entries, hangUp: () => server.closeAllConnections(), close }
}

function parsed(body: string): unknown {
  try {
    return body === '' ? undefined : JSON.parse(body)
  } catch {
    return body
  }
}

const LOGGED_REQUESTS_MAX = 1000
/** All logged requests together, because inline images are large. */
const LOGGED_CHARACTERS_MAX = 128 * 1024 * 1024

/** The newest requests, bounded in number and in size. */
class RequestLog {
  readonly entries: SimulatorRequest[] = []
  readonly #sizes: number[] = []
  #total = 0

  add(request: SimulatorRequest, size: number): void {
    this.entries.push(request)
    this.#sizes.push(size)
    this.#total += size
    while (
      this.entries.length > LOGGED_REQUESTS_MAX ||
      (this.#total > LOGGED_CHARACTERS_MAX && this.entries.length > 1)
    ) {
      this.entries.shift()
      this.#total -= this.#sizes.shift() ?? 0
    }
  }
}

/** One response, possibly slow, incomplete or in parts. Every wait ends with an error as soon as the client has left. */
export class Exchange {
  /** The address of this server. */
  readonly origin: string
  readonly #response: ServerResponse
  readonly #left = new AbortController()

  constructor(response: ServerResponse, origin: string) {
    this.origin = origin
    this.#response = response
    response.once('close', () => this.#left.abort())
  }

  async wait(milliseconds: number): Promise<void> {
    if (milliseconds > 0) {
      await sleep(milliseconds, undefined, { signal: this.#left.signal })
    }
  }

  /** Sends the head at once. */
  open(status: number, headers: Headers): void {
    this.#response.writeHead(status, headers).flushHeaders()
  }

  /** Resolves when the bytes have left this process. */
  write(bytes: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#response.write(bytes, (error) => (error ? reject(error) : resolve()))
    })
  }

  end(): void {
    this.#response.end()
  }

  /** Sends a whole response. */
  send(status: number, headers: Headers, body: Buffer | string): void {
    const bytes = Buffer.from(body)
    this.#response.writeHead(status, { ...headers, 'content-length': bytes.length }).end(bytes)
  }

  /** Disconnects before the end of the response. */
  cut(): void {
    this.#response.destroy()
  }

  /** Resets the connection. */
  reset(): void {
    this.#response.socket?.resetAndDestroy()
  }
}

/** The bearer token of a request, if any. */
export function bearerOf(headers: IncomingHttpHeaders): string | undefined {
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
}

/** Whether the request has the expected bearer token, or any token if none is expected. */
export function hasBearer({ headers }: SimulatorRequest, expected: string | undefined): boolean {
  const token = bearerOf(headers)
  return token !== undefined && (expected === undefined || token === expected)
}

declare global {
  interface JSON {
    /** Exists since Node 21, but TypeScript's library lacks it. */
    rawJSON(text: string): unknown
  }
}

/** A number that `JSON.stringify` writes exactly as given: `5.0` stays `5.0`. `text` must be a JSON number. */
export function rawNumber(text: string): unknown {
  return JSON.rawJSON(text)
}
