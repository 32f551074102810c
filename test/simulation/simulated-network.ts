import { Buffer } from 'node:buffer'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { DialTarget, OutboundNetwork } from '#adapters/outbound/outbound-network.ts'
import { ConnectionLostError } from '../engines/break-connection.ts'
import { CLIP } from '../engines/result-files.ts'
import { type Faults, pick } from './faults.ts'
import type { Scheduler } from './scheduler.ts'

/** Any public address will do: nothing is ever sent to it. */
const PUBLIC_ADDRESS = '93.184.215.14'

const RESULT_ANSWERS = ['clip', 'clip', 'clip', 'clip', 'error', 'half', 'page', 'reset'] as const
const RECEIVER_ANSWERS = ['ok', 'ok', 'error', 'reset', 'refused'] as const

/** Where a tenant receives its alerts. */
export const ALERTS_PATH = '/alerts'

/** The clients' receivers and the upstreams' result files, at the far end of connections that leave no process. */
export class SimulatedNetwork {
  /** Paths of the callbacks that were received whole, in order. */
  readonly received: string[] = []
  /** Ids of the alerts that a tenant received whole; one that is delivered again has the same id. */
  readonly alerted: string[] = []
  readonly #scheduler: Scheduler
  readonly #faults: Faults

  constructor(scheduler: Scheduler, faults: Faults) {
    this.#scheduler = scheduler
    this.#faults = faults
  }

  readonly network: OutboundNetwork = {
    resolve: (hostname) =>
      this.#faults.pass(`resolve ${hostname}`, async () => [{ address: PUBLIC_ADDRESS, family: 4 }]),
    dial: (target) => this.#dial(target),
  }

  #dial({ hostname }: DialTarget): Socket {
    const connection = new FarEnd((request) => this.#answer(hostname, request))
    void this.#scheduler.track(new Promise((resolve) => connection.once('close', resolve)))
    const isRefused = hostname === 'hooks.example' && this.#draw(RECEIVER_ANSWERS, 'ok') === 'refused'
    setImmediate(() => {
      if (isRefused) {
        connection.destroy(new ConnectionLostError('refused'))
      } else {
        connection.emit('secureConnect')
      }
    })
    return connection.asSocket()
  }

  /** Undefined: the connection breaks after the request arrived. */
  #answer(hostname: string, request: string): Buffer | undefined {
    if (hostname === 'hooks.example') {
      const path = request.split(' ')[1] ?? ''
      if (path === ALERTS_PATH) {
        this.alerted.push(/webhook-id: (\S+)/i.exec(request)?.[1] ?? '')
      } else {
        this.received.push(path)
      }
      const answer = this.#draw(RECEIVER_ANSWERS, 'ok')
      return answer === 'reset' ? undefined : http(answer === 'ok' ? '200 OK' : '500 Oh', Buffer.from('ok'))
    }
    switch (this.#draw(RESULT_ANSWERS, 'clip')) {
      case 'error':
        return http('503 Busy', Buffer.from('later'))
      case 'half':
        return http('200 OK', CLIP).subarray(0, -1000)
      case 'page':
        return http('200 OK', Buffer.from('<html>'))
      case 'reset':
        return undefined
      default:
        return http('200 OK', CLIP)
    }
  }

  #draw<Answer>(answers: readonly Answer[], calm: Answer): Answer {
    return this.#faults.isCalm ? calm : pick(this.#scheduler, answers)
  }
}

function http(status: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\ncontent-length: ${body.length}\r\n\r\n`), body])
}

/** One connection, seen by the client; the server behind it answers as soon as it has the whole request. */
class FarEnd extends Duplex {
  readonly remoteAddress = PUBLIC_ADDRESS
  readonly #answer: (request: string) => Buffer | undefined
  #request = ''

  constructor(answer: (request: string) => Buffer | undefined) {
    super()
    this.#answer = answer
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    callback()
    this.#request += chunk.toString('latin1')
    if (!this.#isWhole()) {
      return
    }
    const answer = this.#answer(this.#request)
    if (answer === undefined) {
      this.destroy(new ConnectionLostError('reset'))
    } else {
      this.push(answer)
      this.push(null)
    }
  }

  #isWhole(): boolean {
    const [head = '', body] = this.#request.split('\r\n\r\n')
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
    return body !== undefined && body.length >= length
  }

  /** An HTTP client asks no more of a socket than that it is a stream with these switches. */
  asSocket(): Socket {
    const switches = { setTimeout: () => this, setNoDelay: () => this, setKeepAlive: () => this, ref() {}, unref() {} }
    return Object.assign(this, switches) as unknown as Socket
  }
}
