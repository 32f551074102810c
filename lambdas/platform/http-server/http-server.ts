import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { Server as NetServer, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type GatewayError, REQUEST_REFUSED, REQUEST_TOO_LARGE } from '#core/api/api-gateway.ts'
import { NO_SNIFFING } from '#core/http.ts'
import {
  EXPECTATION_FAILED,
  gatewayErrorBytes,
  HEADERS_TOO_LARGE,
  REQUEST_TIMEOUT,
  sendGatewayError,
  tooManyRequestsAtOnce,
} from './gateway-error.ts'
import { InFlight, type Place } from './in-flight.ts'

/** Requests that may be queued on one connection. Few clients send a second one before the first response. */
const REQUESTS_PER_CONNECTION_MAX = 64

/** By Node's error codes; any other refusal of its parser is a bad request. */
const ERROR_OF_CODE: ReadonlyMap<string, GatewayError> = new Map([
  ['HPE_HEADER_OVERFLOW', HEADERS_TOO_LARGE],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', REQUEST_TOO_LARGE],
  ['ERR_HTTP_REQUEST_TIMEOUT', REQUEST_TIMEOUT],
])

/** A request that is queued, or whose response is under way. */
type Turn = { readonly response: ServerResponse; readonly begin: () => void }

/**
 * The responses under way on each connection, so that a refusal never lands inside one of them. The requests of a connection start one
 * after the other, each after the previous response has been handed over, so a client that reads nothing causes one response, however
 * many requests it sends.
 */
export class OpenResponses {
  readonly #turns = new WeakMap<Duplex, InFlight<Turn>>()
  readonly #refused = new WeakSet<Duplex>()

  /** Starts a request when it is its turn. One request too many on a connection ends them all. */
  add(socket: Duplex, response: ServerResponse, begin: () => void): void {
    if (this.#refused.has(socket)) {
      return
    }
    const turns = this.#turns.get(socket) ?? new InFlight()
    if (turns.size >= REQUESTS_PER_CONNECTION_MAX) {
      this.#endFlood(socket, turns)
      return
    }
    this.#turns.set(socket, turns)
    const turn = turns.add({ response, begin })
    response.once('close', () => this.#endTurn(socket, turn))
    if (turns.size === 1) {
      begin()
    }
  }

  /** After the responses to complete requests, sends the reason why the connection is not read any more, and closes it. */
  refuse(socket: Duplex, error: Error & { readonly code?: string }): void {
    const refusal = refusalOf(error.code)
    if (refusal === undefined) {
      socket.destroy()
    } else if (!this.#refused.has(socket)) {
      this.#refused.add(socket)
      this.#sayInTurn(socket, refusal)
    }
  }

  /** The next request starts one turn of the event loop later, so that other connections come first. */
  #endTurn(socket: Duplex, turn: Place<Turn>): void {
    setImmediate(() => {
      const turns = this.#turns.get(socket)
      turns?.remove(turn)
      const next = turns?.oldest
      if (next !== undefined && !socket.destroyed) {
        next.value.begin()
      }
    })
  }

  /** Stops reading, because each further request would stay in memory as long as its connection. */
  #endFlood(socket: Duplex, turns: InFlight<Turn>): void {
    const underWay = turns.oldest?.value
    this.#refused.add(socket)
    this.#turns.delete(socket)
    socket.pause()
    if (underWay === undefined || (underWay.response.headersSent && !underWay.response.writableFinished)) {
      socket.destroy()
    } else {
      say(socket, tooManyRequestsAtOnce(REQUESTS_PER_CONNECTION_MAX))
    }
  }

  #sayInTurn(socket: Duplex, refusal: GatewayError): void {
    const open = Array.from(this.#turns.get(socket) ?? [], ({ value }) => value.response).filter(
      ({ closed }) => !closed,
    )
    const last = open.at(-1)
    if (last?.req.complete) {
      last.once('close', () => say(socket, refusal))
    } else if (last === undefined || (open.length === 1 && !last.headersSent)) {
      // The refused bytes are not a request, or belong to the body of the only one.
      say(socket, refusal)
    } else {
      socket.destroy()
    }
  }
}

function say(socket: Duplex, refusal: GatewayError): void {
  if (socket.writable) {
    socket.end(gatewayErrorBytes(randomUUID(), refusal), () => socket.destroy())
  } else {
    socket.destroy()
  }
}

/** Undefined if the connection itself broke. */
function refusalOf(code = ''): GatewayError | undefined {
  return ERROR_OF_CODE.get(code) ?? (code.startsWith('HPE_') ? REQUEST_REFUSED : undefined)
}

/** The interval of checks. */
const LOOK_MILLISECONDS_MAX = 15_000

/** Consecutive checks without progress after which a connection has stalled. Time alone would blame clients for a busy process. */
const LOOKS_MIN = 8

/** The bytes that a connection had sent at its last progress, and the checks since then. */
type Progress = { readonly sentBytes: number; readonly looks: number }

/**
 * Closes connections that read nothing of their pending bytes for this long. Slow readers and clients that wait for a response are left
 * alone.
 * @returns a function that ends the checks.
 */
export function closeStalledConnections(server: NetServer, stalledMilliseconds: number): () => void {
  const progressOf = new Map<Socket, Progress>()
  server.on('connection', (socket: Socket) => {
    progressOf.set(socket, { sentBytes: 0, looks: 0 })
    socket.once('close', () => progressOf.delete(socket))
  })
  const lookMilliseconds = Math.min(LOOK_MILLISECONDS_MAX, stalledMilliseconds / LOOKS_MIN)
  const looksMax = Math.ceil(stalledMilliseconds / lookMilliseconds)
  const look = () => {
    for (const [socket, { sentBytes, looks }] of progressOf) {
      const sentNow = socket.bytesWritten - socket.writableLength
      if (socket.writableLength === 0 || sentNow !== sentBytes) {
        progressOf.set(socket, { sentBytes: sentNow, looks: 0 })
      } else if (looks + 1 >= looksMax) {
        socket.destroy()
      } else {
        progressOf.set(socket, { sentBytes, looks: looks + 1 })
      }
    }
  }
  const timer = setInterval(look, lookMilliseconds)
  timer.unref()
  return () => clearInterval(timer)
}

/** An HTTP server that listens. */
export type HttpServer = {
  readonly port: number
  /** Requests in flight may finish for two seconds; idle connections end now. */
  close(): Promise<void>
  /** Ends no idle connection from now on: for clients that pool connections and send on one that ends at that moment. */
  keepIdleConnections(): void
  /** Ends every connection, whatever is in flight. */
  closeAllConnections(): void
}

/** Where a server listens; as a number, the port on loopback. 0 picks a free one. */
export type ListenAt = { readonly host: string; readonly port: number }

/** A client that reads nothing of a response for this long is dropped; the same as API Gateway's idle limit. */
const STALLED_MILLISECONDS = 300_000

/**
 * Bytes that wait in a connection before its sender is told to wait. Node's default is four times as much, which a thousand clients that
 * do not read would hold each.
 */
const CONNECTION_BYTES = 16 * 1024

/** Node itself would refuse a request without a host with an empty response. */
const OPTIONS = { keepAliveTimeout: 65_000, requireHostHeader: false, highWaterMark: CONNECTION_BYTES }

/**
 * Listens on a port. Malformed requests are refused like by API Gateway, under a new id. The listener gets only the
 * path, even of an absolute target, and one request at a time from each connection.
 * @throws if the port is in use.
 */
export async function listen(
  listener: RequestListener,
  at: ListenAt | number,
  stalledMilliseconds = STALLED_MILLISECONDS,
): Promise<HttpServer> {
  const open = new OpenResponses()
  const serve: RequestListener = (request, response) => {
    open.add(request.socket, response, () => {
      const hosts = request.headersDistinct.host?.length ?? 0
      if (hosts > 1 || (request.httpVersion === '1.1' && hosts === 0)) {
        sendGatewayError(response, randomUUID(), REQUEST_REFUSED)
        return
      }
      toPath(request)
      for (const [name, value] of Object.entries(NO_SNIFFING)) {
        response.setHeader(name, value)
      }
      listener(request, response)
    })
  }
  const server = createServer(OPTIONS, serve)
  // A client that waits for it sends its body when somebody reads it, and none after a refusal.
  server.on('checkContinue', (request, response) => {
    request.once('resume', () => {
      if (!response.headersSent) {
        response.writeContinue()
      }
    })
    serve(request, response)
  })
  const stopWatching = closeStalledConnections(server, stalledMilliseconds)
  server.on('clientError', (error, socket) => open.refuse(socket, error))
  server.on('checkExpectation', (request, response) => {
    open.add(request.socket, response, () => sendGatewayError(response, randomUUID(), EXPECTATION_FAILED))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    const { host, port } = typeof at === 'number' ? { host: '127.0.0.1', port: at } : at
    server.listen(port, host, () => resolve())
  })
  return {
    port: portOf(server),
    close: async () => {
      await close(server)
      stopWatching()
    },
    keepIdleConnections: () => {
      server.keepAliveTimeout = 0
    },
    closeAllConnections: () => server.closeAllConnections(),
  }
}

const ABSOLUTE_TARGET = /^https?:\/\/([^/?#]*)(.*)$/i

/** Leaves path and query in the url. The host of an absolute target takes the place of the header (RFC 9112, 3.2.2). */
function toPath(request: IncomingMessage): void {
  const [, host, path = ''] = ABSOLUTE_TARGET.exec(request.url ?? '/') ?? []
  if (host !== undefined) {
    request.headers.host = host
    request.url = path.startsWith('/') ? path : `/${path}`
  }
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Requests in flight may finish; idle connections end now. */
async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const force = setTimeout(() => server.closeAllConnections(), CLOSE_MILLISECONDS)
  await closed
  clearTimeout(force)
}

/** How long a request in flight may delay a shutdown. */
const CLOSE_MILLISECONDS = 2_000
