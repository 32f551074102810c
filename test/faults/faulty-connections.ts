import { once } from 'node:events'
import { request as openRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { type Loopback, listenHttp, listenTcp } from '../platform/http/loopback.ts'

/** What the proxy does to one connection; a connection without any passes unharmed. */
export type Toxics = {
  /** Before the first byte of the answer. */
  readonly latencyMilliseconds?: number
  /** The answer arrives in pieces of at most this many bytes, each of them a write of its own. */
  readonly sliceBytes?: number
  /** Between two pieces. */
  readonly pauseMilliseconds?: number
  /** So many bytes pass whole before slices and pauses begin. */
  readonly sparedBytes?: number
  /** Both sides are reset when this many bytes of the answer have passed. */
  readonly resetAfterBytes?: number
  /** The answer ends, as if it were whole, when this many bytes of it have passed. */
  readonly endAfterBytes?: number
}

export type TcpProxy = Loopback & {
  /** Bytes of answers that passed, by connection. */
  readonly passed: readonly number[]
}

/**
 * Stands between the gateway and a server of a test and damages what the server says, byte by byte.
 * @param toxicsOf by the number of the connection, from 1
 */
export async function startTcpProxy(
  target: Pick<Loopback, 'port'>,
  toxicsOf: (connection: number) => Toxics,
): Promise<TcpProxy> {
  const passed: number[] = []
  const proxy = await listenTcp((client) => {
    const server = connect(target.port, '127.0.0.1')
    const index = passed.push(0) - 1
    server.on('error', () => client.destroy())
    client.on('close', () => server.destroy())
    client.pipe(server)
    const count = (bytes: number) => {
      passed[index] = (passed[index] ?? 0) + bytes
    }
    // A client that goes away in the middle ends its connection, not the test.
    passOn({ client, server, toxics: toxicsOf(index + 1), count }).catch(() => client.destroy())
  })
  return { ...proxy, passed }
}

type Passage = {
  readonly client: Socket
  readonly server: Socket
  readonly toxics: Toxics
  readonly count: (bytes: number) => void
}

async function passOn({ client, server, toxics, count }: Passage): Promise<void> {
  const { resetAfterBytes = Number.POSITIVE_INFINITY, endAfterBytes = Number.POSITIVE_INFINITY } = toxics
  const bytesMax = Math.min(resetAfterBytes, endAfterBytes)
  let passed = 0
  for await (const chunk of server) {
    await pause(passed === 0 ? toxics.latencyMilliseconds : undefined)
    for (let rest: Buffer = chunk; rest.length > 0 && passed < bytesMax && !client.destroyed; ) {
      const piece = rest.subarray(0, Math.min(pieceBytes(toxics, passed), bytesMax - passed))
      await write(client, piece)
      count(piece.length)
      passed += piece.length
      rest = rest.subarray(piece.length)
      await pause(passed >= (toxics.sparedBytes ?? 0) ? toxics.pauseMilliseconds : undefined)
    }
    if (passed === bytesMax) {
      break
    }
  }
  if (passed === resetAfterBytes) {
    client.resetAndDestroy()
  } else {
    client.end()
  }
}

function pieceBytes({ sliceBytes = Number.POSITIVE_INFINITY, sparedBytes = 0 }: Toxics, passed: number): number {
  return passed < sparedBytes ? sparedBytes - passed : sliceBytes
}

/** A pause that outlasts its test does not keep the process. */
async function pause(milliseconds = 0): Promise<void> {
  if (milliseconds > 0) {
    await delay(milliseconds, undefined, { ref: false })
  }
}

/** Resolves when the kernel has taken the bytes, so that pieces are not glued together again. */
function write(client: Socket, bytes: Buffer): Promise<void> {
  client.setNoDelay(true)
  return new Promise((resolve, reject) => {
    client.write(bytes, (error) => (error ? reject(error) : resolve()))
  })
}

type LossyProxy = Loopback & {
  loseReplies(count: number): void
  /** Replies that are still to be lost. */
  left(): number
}

/** A proxy in front of an AWS service of this machine that drops connections after the service has done its work. */
export async function startLossyProxy(target: string): Promise<LossyProxy> {
  let left = 0
  const server = await listenHttp(async (request, response) => {
    // The headers go on as they came, the host among them: they are what was signed.
    const { method = 'POST', url = '/', headers } = request
    const passedOn = openRequest(target + url, { method, headers, setHost: false })
    request.pipe(passedOn)
    const [reply] = await once(passedOn, 'response')
    const body = await text(reply)
    if (left > 0) {
      left -= 1
      request.socket.destroy()
      return
    }
    response.writeHead(reply.statusCode, { 'content-type': reply.headers['content-type'] ?? '' }).end(body)
  })
  return {
    ...server,
    loseReplies: (count) => {
      left = count
    },
    left: () => left,
  }
}

type RawAnswer = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }

/** A gateway that does not even hang up has failed. */
const RESPONSE_MILLISECONDS_MAX = 120_000

/**
 * Sends bytes that no HTTP client would send, and reads until the gateway hangs up. The request must ask for that
 * (`connection: close`) or give the gateway reason to.
 */
export async function rawRequest(url: string, ...pieces: readonly (string | Uint8Array)[]): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  const chunks: Buffer[] = []
  const socket = connect(Number(port), hostname)
  socket.setTimeout(RESPONSE_MILLISECONDS_MAX, () => socket.destroy())
  socket.on('data', (chunk) => chunks.push(chunk))
  // A body that is refused half-way is answered with a reset behind the answer.
  socket.on('error', () => {})
  for (const piece of pieces) {
    socket.write(piece)
  }
  await new Promise((resolve) => socket.once('close', resolve))
  return parse(Buffer.concat(chunks).toString('latin1'))
}

function parse(text: string): RawAnswer {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = lines.map((line) => {
    const [name = '', ...value] = line.split(': ')
    return [name.toLowerCase(), value.join(': ')]
  })
  return { status: Number(statusLine.split(' ')[1]), headers: Object.fromEntries(headers), body }
}
