import { Buffer } from 'node:buffer'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import type { CancelOutcome } from '#core/providers/video-provider.ts'
import type { DialTarget, OutboundNetwork } from '#upstream/guard/outbound-network.ts'
import type { PollOutcome, SubmitOutcome, VideoAccount } from '#upstream/providers/video-account.ts'
import { succeeded } from '../engines/pipeline.ts'
import { CLIP } from '../engines/test-servers.ts'
import { ConnectionLostError } from '../engines/test-table.ts'
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

type Task = {
  readonly prompt: string
  readonly endsAt: number
  readonly end: 'succeeded' | 'failed' | 'gone' | 'never'
  readonly seconds: string
  cancelled: boolean
}

/** Seconds that a generation takes. */
const GENERATION_SECONDS = { min: 5, max: 400 }

const ENDS = ['succeeded', 'succeeded', 'succeeded', 'succeeded', 'failed', 'gone', 'never'] as const
const ANSWERS = ['accepted', 'accepted', 'accepted', 'accepted', 'lost', 'rejected', 'busy', 'unreachable'] as const

/** The providers' side: it remembers every task that it accepted, whether or not its answer arrived. */
export class SimulatedUpstream {
  readonly tasks = new Map<string, Task>()
  readonly #scheduler: Scheduler
  readonly #faults: Faults

  constructor(scheduler: Scheduler, faults: Faults) {
    this.#scheduler = scheduler
    this.#faults = faults
  }

  open({ id }: VideoChannel): VideoAccount {
    return {
      submit: ({ request }) => this.#wire(`submit to ${id}`, () => this.#submit(request.prompt), UNKNOWN),
      poll: (taskId) => this.#wire(`poll ${taskId}`, () => this.#poll(taskId), UNAVAILABLE),
      cancel: (taskId) => this.#wire<CancelOutcome>(`cancel ${taskId}`, () => this.#cancel(taskId), 'unknown'),
    }
  }

  /** An adapter never throws: a broken connection is an outcome. */
  async #wire<Outcome>(label: string, act: () => Outcome, broken: Outcome): Promise<Outcome> {
    try {
      return await this.#faults.pass(label, async () => act())
    } catch {
      return broken
    }
  }

  #submit(prompt: string): SubmitOutcome {
    const answer = this.#faults.isCalm ? 'accepted' : pick(this.#scheduler, ANSWERS)
    if (answer === 'rejected') {
      return { kind: 'rejected', message: 'not this one', text: '{"error":"not this one"}' }
    }
    if (answer === 'busy') {
      return { kind: 'busy', reason: 'too many', retryAfterSeconds: undefined }
    }
    if (answer === 'unreachable') {
      return { kind: 'unreachable', reason: 'refused' }
    }
    const taskId = `task-${this.tasks.size + 1}`
    this.tasks.set(taskId, this.#newTask(prompt))
    return answer === 'lost' ? UNKNOWN : { kind: 'accepted', taskId, text: JSON.stringify({ task_id: taskId }) }
  }

  #newTask(prompt: string): Task {
    const { min, max } = GENERATION_SECONDS
    const takes = min + Math.floor(this.#scheduler.random() * (max - min))
    return {
      prompt,
      endsAt: this.#scheduler.nowMilliseconds() + takes * 1000,
      end: this.#faults.isCalm ? 'succeeded' : pick(this.#scheduler, ENDS),
      // Seven seconds cost more than the five that were reserved.
      seconds: pick(this.#scheduler, ['5', '5', '3', '7']),
      cancelled: false,
    }
  }

  #poll(taskId: string): PollOutcome {
    const task = this.tasks.get(taskId)
    if (task === undefined || (task.end === 'gone' && this.#isOver(task))) {
      return { kind: 'gone', reason: 'unknown task' }
    }
    if (task.cancelled) {
      return { kind: 'failed', message: 'cancelled', text: '{"status":"cancelled"}' }
    }
    if (!this.#isOver(task) || task.end === 'never') {
      return { kind: 'running', text: '{"status":"running"}', isKnownStatus: true }
    }
    return task.end === 'failed'
      ? { kind: 'failed', message: 'the model failed', text: '{"status":"failed"}' }
      : succeeded({ video_url: `https://results.example/${taskId}.mp4`, seconds: task.seconds, length: '5' })
  }

  #cancel(taskId: string): CancelOutcome {
    const task = this.tasks.get(taskId)
    if (task === undefined || this.#isOver(task) || this.#scheduler.random() < 0.5) {
      return 'refused'
    }
    task.cancelled = true
    return 'cancelled'
  }

  #isOver({ endsAt }: Task): boolean {
    return this.#scheduler.nowMilliseconds() >= endsAt
  }
}

const UNKNOWN: SubmitOutcome = { kind: 'unknown', reason: 'no answer' }
const UNAVAILABLE: PollOutcome = { kind: 'unavailable', reason: 'no answer' }
