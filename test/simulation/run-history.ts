import { isTerminal } from '#core/jobs/video-job.ts'
import { seededRandom } from '../engines/seeded-random.ts'
import { checkLateStart, missingAlerts } from './budget-invariants.ts'
import { Clients } from './clients.ts'
import { pick } from './faults.ts'
import type { Guard } from './guards.ts'
import { Invariants } from './invariants.ts'
import { BudgetOperators, Operators } from './operators.ts'
import { NOTHING_RELAYED, RelayClients, type RelayedSums } from './relay-clients.ts'
import type { SimulatedTable, Written } from './simulated-table.ts'
import { type Item, rule, type Snapshot } from './snapshot.ts'
import { World, type WorldOptions } from './world.ts'

type Actors = {
  readonly world: World
  readonly clients: Clients
  readonly operators: Operators
  readonly budgets: BudgetOperators
  readonly relay: RelayClients | undefined
}
type Event = () => void

const JUMPS_MILLISECONDS = [1_000, 60_000, 660_000]

/** What clients, operators or time do next. */
export function drawEvent(actors: Actors): Event {
  const { world, relay } = actors
  return pick(world.scheduler, relay === undefined ? eventsOfJobs(actors) : eventsOfBoth({ ...actors, relay }))
}

function eventsOfJobs({ world, clients, operators }: Actors): readonly Event[] {
  return [
    ...times(8, () => clients.create()),
    ...times(3, () => clients.deleteOrCancel()),
    ...times(2, () => stopExecution(world)),
    ...eventsOfOperators({ world, operators }),
  ]
}

function eventsOfBoth({
  world,
  clients,
  operators,
  budgets,
  relay,
}: Actors & { readonly relay: RelayClients }): readonly Event[] {
  return [
    ...times(12, () => relay.burst()),
    ...times(3, () => clients.create()),
    () => clients.deleteOrCancel(),
    () => relay.killProcess(),
    () => relay.freezeProcess(),
    () => world.storms?.begin(),
    ...times(2, () => operators.changeKey()),
    ...times(2, () => operators.newKey()),
    ...times(2, () => budgets.setTenantBudget()),
    ...times(3, () => budgets.setKeyBudget()),
    () => budgets.rotateKey(),
    ...times(2, () => budgets.correct()),
    ...times(2, () => operators.grant()),
    ...eventsOfOperators({ world, operators }),
  ]
}

function eventsOfOperators({ world, operators }: Pick<Actors, 'world' | 'operators'>): readonly Event[] {
  return [
    () => operators.revokeKey(),
    () => operators.newKey(),
    () => operators.grant(),
    () => world.deploy(),
    () => world.scheduler.jump(pick(world.scheduler, JUMPS_MILLISECONDS)),
    () => world.reconcile(),
  ]
}

function times(count: number, event: Event): readonly Event[] {
  return Array.from({ length: count }, () => event)
}

function stopExecution({ scheduler, executions }: World): void {
  if (executions.running.length > 0) {
    executions.stop(pick(scheduler, executions.running))
  }
}

/**
 * Whether a part of a resolution has a guard of its own. Balances, budgets, usage counters and channel counts move with
 * every job and have none, and a transaction of relayed requests may open reservations beside those that it closes.
 */
function isGuarded({ Put, Update, Delete }: Written['items'][number]): boolean {
  const counterSortKey = '0'
  const usagePartition = 'U#'
  const isCounter = Update?.Key?.SK === counterSortKey || String(Update?.Key?.PK).startsWith(usagePartition)
  const isRow = String(Put?.Item?.SK).endsWith('#2')
  return isRow || Delete !== undefined || (Update !== undefined && !isCounter)
}

/**
 * A resolution stands behind three guards, and no fault gets past one while the others stand. So each is tried alone:
 * every part of a resolution that was carried out is sent once more by itself, and the table must refuse it.
 * @returns the parts that it took, in words.
 */
export async function probeGuards(table: SimulatedTable, missing: readonly Guard[]): Promise<string[]> {
  const taken: string[] = []
  for (const { items } of table.transactions) {
    const isResolution = items.some((item) => String(item.Put?.Item?.SK).endsWith('#2'))
    for (const item of isResolution ? items : []) {
      const key = String((item.Put?.Item ?? (item.Update ?? item.Delete)?.Key)?.SK)
      if (isGuarded(item) && (await table.takes(item, missing))) {
        taken.push(`the part ${key} of a resolution was taken a second time`)
      }
    }
  }
  return taken
}

/** What is not over yet, in words. @param requests relayed requests that are being served. */
export function stillOpen(
  snapshot: Snapshot | undefined,
  { world, requests }: { readonly world: World; readonly requests: number },
): string[] {
  const held = [...(snapshot?.reservations ?? [])].filter(([, { state }]) => state === 'held')
  return [
    ...held.map(([jobId]) => `the reservation of ${jobId} stays open`),
    ...(snapshot?.holds ?? []).map(({ holdId }) => `hold ${holdId} stays`),
    ...(snapshot === undefined ? [] : missingAlerts(snapshot, world.scheduler.nowMilliseconds())),
    ...rule(requests === 0, 'a relayed request never ends'),
    ...rule((world.storms?.underWay ?? 0) === 0, 'a late transaction never arrives'),
    ...world.executions.running.map(({ name }) => `execution ${name} never ends`),
    ...(snapshot !== undefined && snapshot.cleanUps > 0 ? ['a deleted job is never cleaned up'] : []),
  ]
}

/** At the end a video is there exactly when its job succeeded and was not deleted. */
export function leftovers(snapshot: Snapshot | undefined, { objects }: Pick<World, 'objects'>): string[] {
  const jobs = [...(snapshot?.jobs.values() ?? [])]
  const expected = jobs.filter((job) => job.status === 'succeeded' && !job.isDeleted).map((job) => job.videoKey)
  const stored = [...objects.keys()].filter((key) => key.startsWith('v/'))
  return [
    ...expected.filter((key) => !stored.includes(key)).map((key) => `the video ${key} is not there`),
    ...stored.filter((key) => !expected.includes(key)).map((key) => `the video ${key} was left behind`),
    ...jobs.filter((job) => !isTerminal(job)).map((job) => `job ${job.jobId} never ended`),
  ]
}

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
