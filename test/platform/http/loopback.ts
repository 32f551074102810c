import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createHttpServer, type Server as HttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import type { DialTarget, OutboundNetwork } from '#upstream/guard/outbound-network.ts'

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
  // A client may send on a pooled connection at the moment at which it is closed.
  return await listen(createHttpServer({ keepAliveTimeout: 0 }, listener))
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

/** DER: one tag, a length, the content. */
function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content)
  const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}

const sequence = (...content: readonly Uint8Array[]): Buffer => der(0x30, ...content)
const identifier = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'))
const utcTime = (text: string): Buffer => der(0x17, Buffer.from(text))

const ECDSA_WITH_SHA256 = sequence(identifier('2a8648ce3d040302'))
const COMMON_NAME = identifier('550403')
const SUBJECT_ALTERNATIVE_NAME = identifier('551d11')

/** Makes a certificate for one host name that nobody signed but itself, with a fresh key. */
export function createSelfSignedCertificate(hostname: string): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(hostname)))))
  const alternativeName = sequence(SUBJECT_ALTERNATIVE_NAME, der(0x04, sequence(der(0x82, Buffer.from(hostname)))))
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_WITH_SHA256,
    name,
    sequence(utcTime('200101000000Z'), utcTime('490101000000Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(alternativeName)),
  )
  return { key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })), cert: signed(content, privateKey) }
}

function signed(content: Buffer, privateKey: KeyObject): string {
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, privateKey))
  const certificate = sequence(content, ECDSA_WITH_SHA256, signature).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`
}
