import { setTimeout as delay } from 'node:timers/promises'
import { LoadConnection, type LoadTarget, type Outcome } from './load-connection.ts'
import { type LoadPlan, Schedule } from './load-plan.ts'
import { OutcomeTally, type Tally } from './outcome-tally.ts'
import { watchServer } from './watch-server.ts'

/** One load on one server: always the same request. */
export type LoadOrder = {
  /** Such as `http://127.0.0.1:8787`. */
  readonly origin: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Bytes that the body of every answer must have. */
  readonly answerBytes: number
  readonly plan: LoadPlan
  /** Before anything counts; a counted plan has neither. */
  readonly warmUpSeconds: number
  readonly measuredSeconds: number
  /** The server; the memory of its children counts too, and their CPU is counted apart. */
  readonly serverPid: number
}

export type LoadFigures = Tally & {
  readonly perSecond: number
  /** The largest of the server's whole tree, sampled. */
  readonly residentBytes: number
  /** Of the server's own process, for each request. */
  readonly cpuMilliseconds: number
  /** Of the processes below the server, for each request: with our gateway that of the table's engine. */
  readonly engineCpuMilliseconds: number
  /** Of each processor, 0 to 1: more than server and load could need is foreign work. */
  readonly busy: readonly number[]
}

/** An open loop's clock: a request leaves at most so much later than it is due, and that counts as waiting. */
const CLOCK_MILLISECONDS = 1

/** How long after its end an open loop waits for answers; and a counted load for all of its own. */
const LATE_SECONDS_MAX = { open: 10, counted: 120 }

/** Sends the load, waits for what belongs to the measurement, and gives the figures. @throws when nothing was answered. */
export async function runLoad(order: LoadOrder): Promise<LoadFigures> {
  const startAt = performance.now()
  const isCounted = order.plan.kind === 'counted'
  const from = startAt + (isCounted ? 0 : order.warmUpSeconds * 1000)
  const to = isCounted ? Number.POSITIVE_INFINITY : from + order.measuredSeconds * 1000
  const tally = new OutcomeTally({ kind: order.plan.kind, span: { from, to }, answerBytes: order.answerBytes })
  const load = new Load(order.plan, targetOf(order), (outcome) => tally.add(outcome))
  await sleepUntil(from)
  const watched = watchServer(order.serverPid)
  await (isCounted ? load.allAnswered(LATE_SECONDS_MAX.counted) : sleepUntil(to))
  const seconds = (performance.now() - from) / 1000
  const server = watched.end()
  const unanswered = await load.end(LATE_SECONDS_MAX.open)
  for (let missing = 0; missing < unanswered; missing += 1) {
    tally.addFailure('no answer in time')
  }
  const result = tally.result()
  return {
    ...result,
    perSecond: result.requests / (isCounted ? seconds : order.measuredSeconds),
    residentBytes: server.residentBytes,
    cpuMilliseconds: server.cpuMilliseconds / result.requests,
    engineCpuMilliseconds: server.engineCpuMilliseconds / result.requests,
    busy: server.busy,
  }
}

function targetOf({ origin, headers, body }: LoadOrder): LoadTarget {
  const { host, hostname, port } = new URL(origin)
  const all = {
    host,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'keep-alive',
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const request = Buffer.from(`POST /v1/chat/completions HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
  return { hostname, port: Number(port), request }
}

async function sleepUntil(at: number): Promise<void> {
  await delay(Math.max(0, at - performance.now()))
}

/** The connections of a load and what they are to send. */
class Load {
  readonly #plan: LoadPlan
  readonly #connections: readonly LoadConnection[]
  readonly #onOutcome: (outcome: Outcome) => void
  readonly #clock: NodeJS.Timeout | undefined
  /** Requests of an open loop that are due and wait for a connection, the oldest first. */
  readonly #waiting: number[] = []
  #isEnding = false
  #sent = 0
  #ended = 0

  constructor(plan: LoadPlan, target: LoadTarget, onOutcome: (outcome: Outcome) => void) {
    this.#plan = plan
    this.#onOutcome = onOutcome
    this.#clock = plan.kind === 'open' ? this.#startClock(plan.perSecond) : undefined
    const events = {
      onIdle: (connection: LoadConnection) => this.#sendNext(connection),
      onOutcome: (outcome: Outcome) => this.#count(outcome),
    }
    this.#connections = Array.from({ length: plan.connections }, () => new LoadConnection(target, events))
  }

  /** Resolves when every request of a counted plan has ended, or after so many seconds. */
  async allAnswered(secondsMax: number): Promise<void> {
    const giveUpAt = performance.now() + secondsMax * 1000
    const requests = this.#plan.kind === 'counted' ? this.#plan.requests : 0
    while (this.#ended < requests && performance.now() < giveUpAt) {
      await delay(CLOCK_MILLISECONDS)
    }
  }

  /** Sends nothing new, waits for an open loop's late answers, closes. @returns how many of those never came. */
  async end(secondsMax: number): Promise<number> {
    clearInterval(this.#clock)
    const isOpen = this.#plan.kind === 'open'
    this.#isEnding = !isOpen
    const giveUpAt = performance.now() + secondsMax * 1000
    const left = () => (isOpen ? this.#waiting.length + this.#sent - this.#ended : 0)
    while (left() > 0 && performance.now() < giveUpAt) {
      await delay(CLOCK_MILLISECONDS)
    }
    const unanswered = left()
    for (const connection of this.#connections) {
      connection.close()
    }
    return unanswered
  }

  #startClock(perSecond: number): NodeJS.Timeout {
    const schedule = new Schedule(perSecond, performance.now())
    return setInterval(() => {
      this.#waiting.push(...schedule.dueBy(performance.now()))
      for (const connection of this.#connections) {
        if (connection.isIdle) {
          this.#sendNext(connection)
        }
      }
    }, CLOCK_MILLISECONDS)
  }

  #sendNext(connection: LoadConnection): void {
    const dueAt = this.#nextDue()
    if (dueAt !== undefined) {
      this.#sent += 1
      connection.send(dueAt)
    }
  }

  #nextDue(): number | undefined {
    switch (this.#plan.kind) {
      case 'open':
        return this.#waiting.shift()
      case 'closed':
        return this.#isEnding ? undefined : performance.now()
      case 'counted':
        return this.#sent < this.#plan.requests ? performance.now() : undefined
      default:
        return this.#plan satisfies never
    }
  }

  #count(outcome: Outcome): void {
    this.#ended += 1
    this.#onOutcome(outcome)
  }
}
