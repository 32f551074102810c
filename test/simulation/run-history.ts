import { seededRandom } from '../engines/seeded-random.ts'
import { BudgetOperators } from './budget-operators.ts'
import { checkLateStart } from './budget-spending.ts'
import { Clients } from './clients.ts'
import { drawEvent } from './events.ts'
import { Invariants } from './invariants.ts'
import { Operators } from './operators.ts'
import { probeGuards } from './probe-guards.ts'
import { RelayClients } from './relay-clients.ts'
import { NOTHING_RELAYED, type RelayedSums } from './relayed-request.ts'
import { leftovers, stillOpen } from './still-open.ts'
import type { Item } from './table-mirror.ts'
import { World, type WorldOptions } from './world.ts'

/** Steps in which things still happen; afterwards everything works and whatever is open must come to its end. */
const JOBS = { steps: 320, eventChance: 0.1 }
const JOBS_AND_REQUESTS = { steps: 420, eventChance: 0.14 }
/** In one history of eight an operator suspends and resumes tenants all the time, by draws of its own: the others stay as they were found. */
const SUSPENSIONS = { every: 8, from: 5, chance: 0.05 }

/** Longer than queue, deadline and three new executions together, and much shorter than Reconcile's last resort. */
const DRAIN_MILLISECONDS_MAX = 5 * 60 * 60 * 1000

/** Reconcile runs each minute; when only waiting is left, runs that find nothing are left out. */
const TICK_MILLISECONDS = { first: 60_000, growth: 1.3, max: 600_000 }

/** What came of one history. */
export type Outcome = {
  readonly seed: number
  /** Empty when every rule held at every step. */
  readonly broken: readonly string[]
  readonly steps: number
  readonly jobs: number
  readonly succeeded: number
  readonly callbacks: number
  readonly answers: ReadonlyMap<string, number>
  readonly faults: ReadonlyMap<string, number>
  readonly storms: ReadonlyMap<string, number>
  readonly relayed: RelayedSums
  /** The last things that happened before the end. */
  readonly trace: readonly string[]
}

/** Runs one history from its seed to its end and looks at everything after every write. */
export async function runHistory(options: WorldOptions): Promise<Outcome> {
  const history = new History(options)
  await history.open()
  const broken = await history.run()
  return history.outcome(broken)
}

class History {
  readonly #options: WorldOptions
  readonly #world: World
  readonly #operators: Operators
  readonly #budgets: BudgetOperators
  readonly #clients: Clients
  /** Undefined in a history without relayed requests. */
  readonly #relay: RelayClients | undefined
  readonly #invariants = new Invariants()
  readonly #suspending: (() => number) | undefined
  #audited = -1

  constructor(options: WorldOptions) {
    this.#options = options
    this.#world = new World(options)
    this.#operators = new Operators(this.#world)
    this.#budgets = new BudgetOperators(this.#world, this.#operators)
    this.#clients = new Clients(this.#world, this.#operators)
    this.#relay = options.relaysRequests ? new RelayClients(this.#world, () => this.#operators.keys) : undefined
    const { every, from } = SUSPENSIONS
    this.#suspending = options.seed % every === from ? seededRandom(options.seed) : undefined
  }

  async open(): Promise<void> {
    await this.#operators.open(this.#options.table)
    if (this.#relay !== undefined) {
      await this.#budgets.open(this.#options.table)
    }
    this.#startSchedule()
  }

  outcome(broken: readonly string[]): Outcome {
    return {
      seed: this.#options.seed,
      broken,
      steps: this.#world.scheduler.trace.length,
      jobs: this.#invariants.snapshot?.jobs.size ?? 0,
      succeeded: [...(this.#invariants.snapshot?.jobs.values() ?? [])].filter(({ status }) => status === 'succeeded')
        .length,
      callbacks: this.#world.outside.received.length,
      answers: this.#clients.answers,
      faults: this.#world.faults.happened,
      storms: this.#world.storms?.happened ?? new Map(),
      relayed: this.#relay?.sums() ?? NOTHING_RELAYED,
      trace: this.#world.scheduler.trace.slice(-60),
    }
  }

  async run(): Promise<string[]> {
    const { steps, eventChance } = this.#relay === undefined ? JOBS : JOBS_AND_REQUESTS
    for (let step = 0; step < steps; step += 1) {
      if (this.#world.scheduler.random() < eventChance) {
        await this.#happen()
      }
      if (this.#suspending !== undefined && this.#suspending() < SUSPENSIONS.chance) {
        this.#operators.suspendOrResume(this.#suspending)
      }
      this.#world.switching?.mayAct()
      await this.#world.scheduler.step()
      const broken = await this.#audit()
      if (broken.length > 0) {
        return broken
      }
    }
    return await this.#drain()
  }

  /** The schedule: runs for as long as the history lasts. */
  #startSchedule(): void {
    const { scheduler, faults } = this.#world
    const { first, growth, max } = TICK_MILLISECONDS
    scheduler.spawn(async () => {
      for (let pause = first; ; pause = faults.isCalm ? Math.min(max, pause * growth) : first) {
        await scheduler.pause(pause)
        this.#world.reconcile()
      }
    })
  }

  async #happen(): Promise<void> {
    drawEvent({
      world: this.#world,
      clients: this.#clients,
      operators: this.#operators,
      budgets: this.#budgets,
      relay: this.#relay,
    })()
    if (this.#relay !== undefined) {
      // A ledger takes turns of the event loop: without this the order would depend on how fast the engine answers.
      await this.#world.scheduler.rest()
    }
  }

  async #audit(): Promise<string[]> {
    const { writes } = this.#world.table
    if (writes === this.#audited) {
      return []
    }
    this.#audited = writes
    return await this.#look()
  }

  async #look(items?: readonly Item[]): Promise<string[]> {
    return this.#invariants.check(items ?? (await this.#world.table.everything()), {
      submitted: [...this.#world.upstream.tasks.values()].map(({ prompt }) => prompt),
      received: this.#world.outside.received,
      promptsWithKey: this.#clients.promptsWithKey,
      keyOfPrompt: this.#clients.keyOfPrompt,
      claims: this.#world.table.takeClaims(),
      requests: this.#relay?.requests ?? new Map(),
      alerted: [...this.#world.published, ...this.#world.outside.alerted],
      nowMilliseconds: this.#world.scheduler.nowMilliseconds(),
    })
  }

  /** Nothing fails any more: every job must end, and nothing may be left. */
  async #drain(): Promise<string[]> {
    const { scheduler, faults } = this.#world
    faults.calmDown()
    this.#world.storms?.calmDown()
    scheduler.isHasty = false
    const giveUpAt = scheduler.nowMilliseconds() + DRAIN_MILLISECONDS_MAX
    for (let open = this.#open(); open.length > 0; open = this.#open()) {
      if (scheduler.nowMilliseconds() > giveUpAt) {
        return open
      }
      await scheduler.step()
      const broken = await this.#audit()
      if (broken.length > 0) {
        return broken
      }
    }
    return [
      ...(await this.#look(await this.#world.table.everythingAgain())),
      ...leftovers(this.#invariants.snapshot, this.#world),
      ...(await this.#budgets.close(this.#options.table)),
      ...(await this.#look(await this.#world.table.everythingAgain())),
      ...this.#lateBudgets(),
      ...(this.#options.probesGuards ? await probeGuards(this.#world.table, this.#options.missing) : []),
    ]
  }

  #open(): string[] {
    return stillOpen(this.#invariants.snapshot, { world: this.#world, requests: this.#relay?.underWay ?? 0 })
  }

  /** A budget that is set when nothing moves begins with exactly what was spent. */
  #lateBudgets(): string[] {
    const { snapshot } = this.#invariants
    return snapshot === undefined ? [] : this.#budgets.setLate.flatMap((id) => checkLateStart(id, snapshot))
  }
}
