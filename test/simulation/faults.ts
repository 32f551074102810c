import { ConnectionLostError } from '../engines/break-connection.ts'
import type { Scheduler } from './scheduler.ts'

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
