import type { Socket } from 'node:net'
import { type Loopback, listenTcp } from '../platform/http/loopback.ts'

/** A whole request that reached an upstream: the n-th of its n-th connection, both from 1. */
export type RawRequest = {
  readonly connection: number
  readonly index: number
  readonly head: string
  readonly body: string
  readonly socket: Socket
}

export type RawUpstream = Loopback & { readonly requests: readonly RawRequest[] }

/** An upstream that answers with whatever bytes a test writes. */
export async function startRawUpstream(answer: (request: RawRequest) => void): Promise<RawUpstream> {
  const requests: RawRequest[] = []
  let connections = 0
  const loopback = await listenTcp((socket) => {
    connections += 1
    const connection = connections
    let index = 0
    let received = Buffer.alloc(0)
    socket.setNoDelay(true)
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes])
      const headEnd = received.indexOf('\r\n\r\n')
      const head = received.subarray(0, Math.max(0, headEnd)).toString('latin1')
      const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0)
      if (headEnd >= 0 && received.length >= headEnd + 4 + length) {
        const body = received.subarray(headEnd + 4).toString('utf8')
        received = Buffer.alloc(0)
        index += 1
        const request = { connection, index, head, body, socket }
        requests.push(request)
        answer(request)
      }
    })
  })
  return { ...loopback, requests }
}

/** An answer with a body of a known length. */
export function httpAnswer(status: number, body = '{}', headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  })
  return [`HTTP/1.1 ${status} Reason`, ...lines.map(([name, value]) => `${name}: ${value}`), '', body].join('\r\n')
}

/** The head of a chunked answer. */
export const CHUNKED_HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'

export const LAST_CHUNK = '0\r\n\r\n'

export function chunkOf(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}
