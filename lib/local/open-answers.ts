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
} from './gateway-error.ts'

/** By the codes of Node; anything else that its parser refuses is a bad request. */
const ERROR_OF_CODE: ReadonlyMap<string, GatewayError> = new Map([
  ['HPE_HEADER_OVERFLOW', HEADERS_TOO_LARGE],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', REQUEST_TOO_LARGE],
  ['ERR_HTTP_REQUEST_TIMEOUT', REQUEST_TIMEOUT],
])

/** The answers under way on each connection, so that a refusal of what follows on it ends up in none of them. */
export class OpenAnswers {
  readonly #answers = new WeakMap<Duplex, Set<ServerResponse>>()
  readonly #refused = new WeakSet<Duplex>()

  add(socket: Duplex, answer: ServerResponse): void {
    const open = this.#answers.get(socket) ?? new Set()
    this.#answers.set(socket, open.add(answer))
    answer.once('close', () => open.delete(answer))
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

  #sayInTurn(socket: Duplex, refusal: GatewayError): void {
    const open = [...(this.#answers.get(socket) ?? [])]
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
