import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  BAD_REQUEST,
  type GatewayError,
  gatewayErrorBytes,
  HEADERS_TOO_LARGE,
  REQUEST_TIMEOUT,
  REQUEST_TOO_LARGE,
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
  return ERROR_OF_CODE.get(code) ?? (code.startsWith('HPE_') ? BAD_REQUEST : undefined)
}
