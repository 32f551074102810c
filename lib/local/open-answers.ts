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

/** Requests that may stand in line on one connection. Hardly any client sends a second one before its first is answered. */
const REQUESTS_PER_CONNECTION_MAX = 64

/** By the codes of Node; anything else that its parser refuses is a bad request. */
const ERROR_OF_CODE: ReadonlyMap<string, GatewayError> = new Map([
  ['HPE_HEADER_OVERFLOW', HEADERS_TOO_LARGE],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', REQUEST_TOO_LARGE],
  ['ERR_HTTP_REQUEST_TIMEOUT', REQUEST_TIMEOUT],
])

/** A request whose turn has not come, or whose answer is under way. */
type Turn = { readonly answer: ServerResponse; readonly begin: () => void }

/**
 * The answers under way on each connection, so that a refusal of what follows on it ends up in none of them. The requests of
 * a connection are begun one after the other, each when the answer before it has been handed over, so that who reads
 * nothing has one answer made, however many requests it sends.
 */
export class OpenAnswers {
  readonly #turns = new WeakMap<Duplex, Set<Turn>>()
  readonly #refused = new WeakSet<Duplex>()

  /** Begins a request when it is its turn. One too many on its connection ends them all. */
  add(socket: Duplex, answer: ServerResponse, begin: () => void): void {
    if (this.#refused.has(socket)) {
      return
    }
    const turns = this.#turns.get(socket) ?? new Set()
    if (turns.size >= REQUESTS_PER_CONNECTION_MAX) {
      this.#endFlood(socket, turns)
      return
    }
    const turn = { answer, begin }
    this.#turns.set(socket, turns.add(turn))
    answer.once('close', () => this.#endTurn(socket, turn))
    if (turns.size === 1) {
      begin()
    }
  }

  /** Says, behind the answers to whole requests, why nothing more is read from a connection, and closes it. */
  refuse(socket: Duplex, error: Error & { readonly code?: string }): void {
    const refusal = refusalOf(error.code)
    if (refusal === undefined) {
      socket.destroy()
    } else if (!this.#refused.has(socket)) {
      this.#refused.add(socket)
      this.#sayInTurn(socket, refusal)
    }
  }

  /** The next request begins a turn of the event loop later: other connections come first, however soon this one's are answered. */
  #endTurn(socket: Duplex, turn: Turn): void {
    setImmediate(() => {
      const turns = this.#turns.get(socket)
      turns?.delete(turn)
      const [next] = turns ?? []
      if (next !== undefined && !socket.destroyed) {
        next.begin()
      }
    })
  }

  /** Nothing is read any more: each further request, answered or not, would be kept as long as its connection. */
  #endFlood(socket: Duplex, turns: Set<Turn>): void {
    const [underWay] = turns
    this.#refused.add(socket)
    turns.clear()
    socket.pause()
    if (underWay === undefined || (underWay.answer.headersSent && !underWay.answer.writableFinished)) {
      socket.destroy()
    } else {
      say(socket, tooManyRequestsAtOnce(REQUESTS_PER_CONNECTION_MAX))
    }
  }

  #sayInTurn(socket: Duplex, refusal: GatewayError): void {
    const open = Array.from(this.#turns.get(socket) ?? [], ({ answer }) => answer).filter(({ closed }) => !closed)
    const last = open.at(-1)
    if (last?.req.complete) {
      last.once('close', () => say(socket, refusal))
    } else if (last === undefined || (open.length === 1 && !last.headersSent)) {
      // It is no request that is refused, or the body of the only one.
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

/** Undefined where the connection itself broke. */
function refusalOf(code = ''): GatewayError | undefined {
  return ERROR_OF_CODE.get(code) ?? (code.startsWith('HPE_') ? BAD_REQUEST : undefined)
}
