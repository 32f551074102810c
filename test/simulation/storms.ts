import { ConnectionLostError } from '../engines/break-connection.ts'
import { seededRandom } from '../engines/seeded-random.ts'
import { pick } from './faults.ts'
import { SharedInvocation } from './invocation.ts'
import type { Scheduler } from './scheduler.ts'

/** What may befall the table in histories with relayed requests, beside the faults of single requests. */
export const STORMS = [
  /** A transaction arrives after its caller has given it up, up to minutes later. */
  'late',
  /** A process is frozen while its transaction is carried out, and misses the reply: its next try finds its token forgotten. */
  'stalled',
  /** Most requests, or their replies, get lost for a while. */
  'outage',
  /** Most writes meet another one of the same items for a while. */
  'contention',
] as const
export type Storm = (typeof STORMS)[number]

const LATE_RATES = [0, 0.02, 0.05]
const STALLED_RATES = [0, 0.03, 0.08]

/** Longer than a token is known; then about as long as, and longer than, Reconcile waits for a process to renew what it holds. */
const STALLED_MILLISECONDS = [11 * 60_000, 16 * 60_000 - 4_000, 16 * 60_000 - 500, 16 * 60_000 + 2_000, 20 * 60_000]

/** A signed request is refused when it is older than this (IAM user guide, "Troubleshoot Signature Version 4 requests"). */
const LATE_MILLISECONDS_MAX = 5 * 60 * 1000

/** Shorter than the tries of one request, longer than these, and longer than the patience of a resolution. */
const STORM_MILLISECONDS = [1_000, 10_000, 60_000] as const
const STORM_SHARE = 0.9

type TableRequest = { readonly conflict: (() => Error) | undefined; readonly isTransaction: boolean }
type Options = { readonly scheduler: Scheduler; readonly seed: number }

/** Draws of its own, so that histories without storms stay as they were found. */
export class Storms {
  readonly happened = new Map<Storm, number>()
  /** Transactions that are still on their way although nobody waits for them. */
  underWay = 0
  readonly #scheduler: Scheduler
  readonly #random: () => number
  readonly #lateRate: number
  readonly #stalledRate: number
  #storm: { readonly kind: Storm; readonly until: number } | undefined
  #isOver = false

  constructor({ scheduler, seed }: Options) {
    this.#scheduler = scheduler
    this.#random = seededRandom(seed + 1_000_000)
    this.#lateRate = pick({ random: this.#random }, LATE_RATES)
    this.#stalledRate = pick({ random: this.#random }, STALLED_RATES)
  }

  /** An outage or contention begins. */
  begin(): void {
    const kind = pick({ random: this.#random }, ['outage', 'contention'] as const)
    const lasts = pick({ random: this.#random }, STORM_MILLISECONDS)
    this.#storm = { kind, until: this.#scheduler.nowMilliseconds() + lasts }
  }

  calmDown(): void {
    this.#isOver = true
  }

  /** One request to the table. @param request.conflict the error of a write that meets another one; undefined for a read. */
  async pass<Result>(act: () => Promise<Result>, { conflict, isTransaction }: TableRequest): Promise<Result> {
    const storm = this.#draw({ isWrite: conflict !== undefined, isTransaction })
    if (storm !== undefined) {
      this.happened.set(storm, (this.happened.get(storm) ?? 0) + 1)
    }
    switch (storm) {
      case undefined:
        return await act()
      case 'late':
        this.#sendLate(act)
        throw new ConnectionLostError('timeout')
      case 'stalled':
        await act()
        this.#stall()
        throw new ConnectionLostError('socket hang up')
      case 'outage':
        if (this.#random() < 0.3) {
          await act()
        }
        throw new ConnectionLostError('socket hang up')
      case 'contention':
        throw conflict?.() ?? new ConnectionLostError('throttled')
      default:
        return storm satisfies never
    }
  }

  #draw({ isWrite, isTransaction }: { isWrite: boolean; isTransaction: boolean }): Storm | undefined {
    if (this.#isOver) {
      return undefined
    }
    const isInStorm = this.#storm !== undefined && this.#scheduler.nowMilliseconds() < this.#storm.until
    if (isInStorm && this.#random() < STORM_SHARE && (isWrite || this.#storm?.kind === 'outage')) {
      return this.#storm?.kind
    }
    const isOfRelay = this.#scheduler.current() instanceof SharedInvocation
    if (!isTransaction && !(isWrite && isOfRelay)) {
      return undefined
    }
    if (isOfRelay && this.#random() < this.#stalledRate) {
      return 'stalled'
    }
    return this.#random() < this.#lateRate ? 'late' : undefined
  }

  #stall(): void {
    const process = this.#scheduler.current()
    if (process !== undefined) {
      this.#scheduler.freeze(process, pick({ random: this.#random }, STALLED_MILLISECONDS))
    }
  }

  #sendLate(act: () => Promise<unknown>): void {
    const sentAt = this.#scheduler.nowMilliseconds()
    this.underWay += 1
    this.#scheduler.spawn(async () => {
      await this.#scheduler.pause(this.#random() * LATE_MILLISECONDS_MAX)
      await this.#scheduler.gate('a late transaction')
      if (this.#scheduler.nowMilliseconds() <= sentAt + LATE_MILLISECONDS_MAX) {
        await this.#scheduler.track(act()).catch(() => {})
      }
      this.underWay -= 1
    })
  }
}
