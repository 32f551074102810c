import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { type Loopback, listenTcp } from '../adapters/outbound/loopback.ts'

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
