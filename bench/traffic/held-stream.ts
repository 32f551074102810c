import { connect, type Socket } from 'node:net'
import type { Mark } from './mark.ts'
import { kindOf } from './marked-request.ts'

/** A stream that a client has asked for, over a bare socket. */
export type HeldStream = {
  readonly socket: Socket
  /** Bytes that arrived, head included. */
  readonly received: () => number
  /** Whether the gateway has closed the connection. */
  readonly isClosed: () => boolean
}

type Held = {
  readonly port: number
  readonly key: string
  readonly mark: Mark
  /** False for a client that reads nothing after its first bytes. */
  readonly reads: boolean
}

/** Asks for a chat stream, and resolves with its first bytes. @throws when the connection ends before. */
export function holdStream({ port, key, mark, reads }: Held): Promise<HeldStream> {
  const body = JSON.stringify(kindOf('chat stream').body?.(mark))
  const { promise, resolve, reject } = Promise.withResolvers<HeldStream>()
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let [bytes, isClosed] = [0, false]
  socket.on('connect', () => {
    const head = ['POST /v1/chat/completions HTTP/1.1', 'host: localhost', `authorization: Bearer ${key}`]
    socket.write(`${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  })
  socket.on('data', (chunk) => {
    bytes += chunk.length
    if (!reads) {
      socket.pause()
    }
    resolve({ socket, received: () => bytes, isClosed: () => isClosed })
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    isClosed = true
    reject(new Error('the gateway closed the connection before the first byte'))
  })
  return promise
}
