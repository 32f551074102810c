import { once } from 'node:events'
import { createServer as createHttpServer, type Server as HttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import type { DialTarget, OutboundNetwork } from '#adapters/outbound/outbound-network.ts'

/** A server on a free port of this machine. */
export type Loopback = {
  readonly port: number
  readonly origin: string
  /** Every connection that was made. */
  readonly sockets: readonly Socket[]
  /** Resolves when every connection made so far is closed. */
  allClosed(): Promise<void>
  stop(): Promise<void>
}

export async function listenHttp(listener: RequestListener): Promise<Loopback> {
  return await listen(createHttpServer(listener))
}

/** For answers that an HTTP library would not write. */
export async function listenTcp(listener: (socket: Socket) => void): Promise<Loopback> {
  return await listen(createTcpServer(listener))
}

async function listen(server: HttpServer | Server): Promise<Loopback> {
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = addressOf(server)
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    sockets,
    // Not `once` of node:events, which fails when the other side resets.
    allClosed: async () => {
      const open = sockets.filter((socket) => !socket.closed)
      await Promise.all(open.map((socket) => new Promise((resolve) => socket.once('close', resolve))))
    },
    stop: async () => {
      for (const socket of sockets) {
        socket.destroy()
      }
      server.close()
      await once(server, 'close')
    },
  }
}

function addressOf(server: HttpServer | Server): AddressInfo {
  const address = server.address()
  if (address === null || typeof address === 'string') {
    throw new Error('the server does not listen on a port')
  }
  return address
}

/** A network in which every name has these addresses and every connection ends at one loopback port. */
export type FakeNetwork = OutboundNetwork & { readonly resolved: string[]; readonly dialled: DialTarget[] }

/**
 * @param answers what successive look-ups say; the last one is repeated
 * @param posesAs what the connection claims as its far end; its real address when undefined
 */
export function fakeNetwork(answers: readonly (readonly string[])[], port: number, posesAs?: string): FakeNetwork {
  const resolved: string[] = []
  const dialled: DialTarget[] = []
  return {
    resolved,
    dialled,
    resolve: async (hostname) => {
      const answer = answers[Math.min(resolved.length, answers.length - 1)] ?? []
      resolved.push(hostname)
      return answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    },
    dial: (target) => {
      dialled.push(target)
      const socket = connect(port, '127.0.0.1')
      if (posesAs !== undefined) {
        Object.defineProperty(socket, 'remoteAddress', { value: posesAs })
      }
      socket.once('connect', () => socket.emit('secureConnect'))
      return socket
    },
  }
}
