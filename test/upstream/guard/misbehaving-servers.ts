import type { Socket } from 'node:net'
import { type Loopback, listenTcp } from '../../platform/http/loopback.ts'

const GIGABYTE = 1024 ** 3
const CHUNK = Buffer.alloc(65_536, 0x61)

/** Writes as fast as the other side takes it, until `bytes` are through or the connection ends. */
function flood(socket: Socket, bytes: number): void {
  let left = bytes
  const pour = () => {
    while (left > 0 && socket.writable) {
      left -= CHUNK.length
      if (!socket.write(CHUNK)) {
        socket.once('drain', pour)
        return
      }
    }
  }
  pour()
}

/** Repeats a few bytes every two milliseconds until the connection ends: slower than any limit, never silent. */
function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.writable && socket.write(text), 2)
  socket.once('close', () => clearInterval(timer))
}

/** Answers that no client should hear to their end, by what is wrong with them. */
const ANSWERS = {
  'a body of a gigabyte': (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${GIGABYTE}\r\n\r\n`)
    flood(socket, GIGABYTE)
  },
  'a body without end': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    flood(socket, Number.POSITIVE_INFINITY)
  },
  'headers without end': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx-flood: ')
    flood(socket, Number.POSITIVE_INFINITY)
  },
  'dripping headers': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    drip(socket, 'x: y\r\n')
  },
  'a dripping body': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n')
    drip(socket, 'a')
  },
  'interim answers without end': (socket) => drip(socket, 'HTTP/1.1 102 Processing\r\n\r\n'),
  'a change of protocol': (socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
  silence: () => {},
} as const satisfies Record<string, (socket: Socket) => unknown>

export type Misbehaviour = keyof typeof ANSWERS

/** A server that waits for a request and then misbehaves. */
export async function misbehave(misbehaviour: Misbehaviour): Promise<Loopback> {
  return await listenTcp((socket) => socket.once('data', () => ANSWERS[misbehaviour](socket)))
}
