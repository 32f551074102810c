import { seededRandom } from '../engines/seeded-random.ts'
import { ConnectionLostError } from '../engines/test-table.ts'
import { type Scheduler, SharedInvocation } from './scheduler.ts'

/** What may happen to one request that leaves a function. */
export const FAULTS = [
  /** The function dies before the request is sent. */
  'crash_before',
  /** The function dies after the service has done its work. */
  'crash_after',
  /** The request never arrives. */
  'request_lost',
  /** The service does its work and its answer is lost. */
  'reply_lost',
  /** The caller gives the function up, and the function goes on. */
  'caller_lost',
  /** The request is on its way for seconds. */
  'slow',
  /** The platform runs one invocation twice, side by side. */
  'doubled',
  /** Somebody else writes the same items (tables only). */
  'conflict',
] as const
export type Fault = (typeof FAULTS)[number]

const REQUEST_FAULTS = FAULTS.filter((fault) => fault !== 'doubled')

/** A history has some faults often, some seldom and some not at all: rare combinations come up sooner that way. */
const RATES = [0, 0, 0.01, 0.03, 0.08]
const DOUBLED_RATES = [0, 0.05, 0.2]

/** Longer than the pause before a retry, shorter than any function's own timeout. */
const SLOW_SECONDS_MAX = 20

/** Errors by which Step Functions learns that an invocation is gone; each has a retrier of its own. */
const CRASH_NAMES = ['Lambda.Unknown', 'Sandbox.Timedout', 'Lambda.ServiceException']

class PlatformError extends Error {
  constructor(name: string) {
    super('the function is gone')
    this.name = name
  }
}

/** The faults of one history, and the doors at which they happen. */
export class Faults {
  readonly happened = new Map<Fault, number>()
  readonly #scheduler: Scheduler
  readonly #rates: ReadonlyMap<Fault, number>
  #isCalm = false

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
    this.#rates = new Map(FAULTS.map((fault) => [fault, pick(scheduler, fault === 'doubled' ? DOUBLED_RATES : RATES)]))
  }

  /** From now on everything works. */
  calmDown(): void {
    this.#isCalm = true
  }

  get isCalm(): boolean {
    return this.#isCalm
  }

  /** One request to a service: waits for its turn, and may end in any way that a request can. */
  async pass<Result>(label: string, act: () => Promise<Result>, conflict?: () => Error): Promise<Result> {
    await this.#scheduler.gate(label)
    const fault = this.draw(...REQUEST_FAULTS)
    if (fault === 'slow') {
      await this.#scheduler.pause(this.#scheduler.random() * SLOW_SECONDS_MAX * 1000)
    }
    if (fault === 'crash_before') {
      return await this.#crash()
    }
    if (fault === 'request_lost') {
      throw new ConnectionLostError('socket hang up')
    }
    if (fault === 'conflict' && conflict !== undefined) {
      throw conflict()
    }
    const result = await this.#scheduler.track(act())
    if (fault === 'crash_after') {
      return await this.#crash()
    }
    if (fault === 'caller_lost') {
      this.#scheduler.current()?.lose(new PlatformError('Lambda.ClientExecutionTimeoutException'))
    }
    if (fault === 'reply_lost') {
      throw new ConnectionLostError('socket hang up')
    }
    return result
  }

  /** One of these faults, or none. */
  draw(...faults: readonly Fault[]): Fault | undefined {
    const drawn = faults.find((fault) => this.#scheduler.random() < (this.#rates.get(fault) ?? 0))
    if (this.#isCalm || drawn === undefined) {
      return undefined
    }
    this.happened.set(drawn, (this.happened.get(drawn) ?? 0) + 1)
    return drawn
  }

  async #crash(): Promise<never> {
    const name = pick(this.#scheduler, CRASH_NAMES)
    this.#scheduler.current()?.crash(new PlatformError(name))
    return await new Promise<never>(() => {})
  }
}

/** One of several, by the scheduler's dice. */
export function pick<Item>({ random }: Pick<Scheduler, 'random'>, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) {
    throw new RangeError('nothing to pick from')
  }
  return item
}

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
