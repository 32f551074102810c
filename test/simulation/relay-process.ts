import { CallerDirectory } from '#store/callers.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import type { Table } from '#store/table/table.ts'
import { SharedInvocation } from './invocation.ts'
import type { Scheduler } from './scheduler.ts'

/** The pause between two rounds of tries is drawn again, from the history's own dice. */
const ROUND_MILLISECONDS_MAX = 1_000

type Options = {
  readonly scheduler: Scheduler
  readonly table: Table
  /** How much its clock is ahead of the others; negative for one that is behind. */
  readonly skewMilliseconds: number
}

/** One process that relays requests: a ledger, callers and a clock of its own, and an end that takes everything with it. */
export class RelayProcess {
  readonly ledger: Pick<RelayLedger, 'reserve' | 'resolve'>
  readonly callers: CallerDirectory
  readonly nowMilliseconds: () => number
  readonly #scheduler: Scheduler
  readonly #invocation = new SharedInvocation()

  constructor({ scheduler, table, skewMilliseconds }: Options) {
    this.#scheduler = scheduler
    this.nowMilliseconds = () => scheduler.nowMilliseconds() + skewMilliseconds
    const pause = () => scheduler.pause(scheduler.random() * ROUND_MILLISECONDS_MAX)
    const clock = { nowMilliseconds: this.nowMilliseconds, pause }
    this.ledger = new RelayLedger(table, { clock })
    this.callers = new CallerDirectory(table, clock)
  }

  get isDead(): boolean {
    return this.#invocation.isDead
  }

  /** Serves one caller. Never settles when the process dies first, except for the caller, who gets an error. */
  run<Result>(body: () => Promise<Result>): Promise<Result> {
    return this.#scheduler.invoke(body, this.#invocation)
  }

  kill(): void {
    this.#invocation.crash(new Error('the process was killed'))
  }

  freeze(milliseconds: number): void {
    this.#scheduler.freeze(this.#invocation, milliseconds)
  }
}
