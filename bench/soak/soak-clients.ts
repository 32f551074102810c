import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { foreignParts } from '../traffic/check-outcome.ts'
import { type KindName, kindNameOf } from '../traffic/marked-request.ts'
import { type Outcome, sendMarked } from '../traffic/send-marked.ts'
import type { TrafficTenant } from '../traffic/traffic-tenants.ts'
import { failureOf } from './soak-failures.ts'

type ClientsOptions = {
  /** Streams that are open at the same time. */
  readonly streams: number
  readonly tenants: readonly TrafficTenant[]
  /** Share of the clients that leave in the middle. */
  readonly leavingShare: number
  readonly random: () => number
}

/** An outcome whose body was checked and dropped. */
export type CheckedOutcome = Outcome & {
  /** Whether the response was whole and in order. */
  readonly isServed: boolean
  /** What went wrong; undefined for a response that was served, and for a client that has left. */
  readonly failure: string | undefined
  /** As a time of `performance.now()`. */
  readonly endedAt: number
}

/** A client tries again after this pause when the gateway is away. */
const AWAY_MILLISECONDS = 500

/** A client that leaves does so at any time of its stream. */
const LEAVES_AFTER_MILLISECONDS_MAX = 8_000

/** Of so many requests one is not a chat stream but of the next kind. */
const OTHERS_EVERY = 10

/** Clients that each send one request after the other, until they are told to stop. */
export class SoakClients {
  readonly outcomes: CheckedOutcome[] = []
  /** What a response had of another request or tenant. */
  readonly foreign: string[] = []
  readonly #options: ClientsOptions
  readonly #agent: Agent
  #next = 0
  #isStopping = false

  constructor(options: ClientsOptions) {
    this.#options = options
    this.#agent = new Agent({ keepAlive: true, maxSockets: options.streams })
  }

  /** Runs until {@link stop}. @param origin of the gateway at that moment. */
  async run(origin: () => string): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.streams }, () => this.#client(origin)))
    this.#agent.destroy()
  }

  /** The requests under way still end. */
  stop(): void {
    this.#isStopping = true
  }

  async #client(origin: () => string): Promise<void> {
    const { random, tenants, leavingShare } = this.#options
    await delay(random() * LEAVES_AFTER_MILLISECONDS_MAX)
    while (!this.#isStopping) {
      const mark = { tenant: Math.floor(random() * tenants.length), request: this.#next }
      this.#next += 1
      const kind: KindName = mark.request % OTHERS_EVERY === 0 ? kindNameOf(mark) : 'chat stream'
      const key = tenants[mark.tenant]?.key ?? ''
      const leaving =
        random() < leavingShare ? { afterMilliseconds: random() * LEAVES_AFTER_MILLISECONDS_MAX } : undefined
      const outcome = await sendMarked(origin(), this.#agent, { mark, kind, key, leaving })
      this.foreign.push(...foreignParts(outcome))
      const failure = failureOf(outcome)
      const isServed = outcome.end === 'whole' && failure === undefined
      this.outcomes.push({ ...outcome, body: '', isServed, failure, endedAt: performance.now() })
      if (outcome.status === undefined) {
        await delay(AWAY_MILLISECONDS)
      }
    }
  }
}
