import { InvalidApiKeyError } from '#core/errors.ts'
import { microcredits } from '#core/money.ts'
import { countedUsage } from '#core/pricing/usage.ts'
import { type Caller, CallerDirectory } from '#store/callers.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import type { RelayReservation, RelayResolution } from '#store/relay-ledger/relay-reservation.ts'
import type { Table } from '#store/table/table.ts'
import { pick } from './faults.ts'
import type { Key } from './operators.ts'
import { type Scheduler, SharedInvocation } from './scheduler.ts'
import type { Written } from './simulated-table.ts'
import type { World } from './world.ts'

const AMOUNT_MICROCREDITS_MAX = 300_000

/** A request of a key, as its reservation names it. */
export function drawReservation(world: World, { tenantId, digest }: Key): RelayReservation {
  const { scheduler } = world
  return {
    tenantId,
    requestId: world.context().newJobId(),
    keyDigest: digest,
    keyId: digest,
    model: pick(scheduler, ['chat-default', 'embedding']),
    operation: 'create-chat-completion',
    amount: microcredits(1 + Math.trunc(scheduler.random() * AMOUNT_MICROCREDITS_MAX)),
    reservedAt: scheduler.nowMilliseconds(),
  }
}

/** How a request ends: billed by usage, billed by estimate because it was cut, sometimes above its reservation, or given back. */
export function drawResolution(scheduler: Scheduler, { reservation }: RelayedRequest): RelayResolution {
  const share = scheduler.random()
  if (share < 0.25) {
    return { kind: 'release' }
  }
  const most = scheduler.random() < 0.1 ? 1.5 : 1
  const actual = microcredits(Math.trunc(Number(reservation.amount) * scheduler.random() * most))
  const usage = countedUsage({ inputTokens: Number(actual % 1000n), outputTokens: Number(actual % 7n) })
  return { kind: 'settle', actual, estimated: share < 0.4, usage, channel: 'openai-main' }
}

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

/** One relayed request, as its caller and its process know it. */
export type RelayedRequest = {
  readonly reservation: RelayReservation
  /** `unknown`: the caller got an error that says nothing about the money, or the process died. */
  locked: 'asked' | 'yes' | 'refused' | 'unknown'
  /** Every resolution that its process asked for. */
  readonly asked: RelayResolution[]
  /** The resolutions that the ledger said were written by this call. */
  readonly resolved: RelayResolution[]
}

/** Refusals by which a caller learns that nothing was locked. */
const REFUSALS: readonly string[] = [
  'InvalidApiKeyError',
  'CallerChangedError',
  'InsufficientQuotaError',
  'BudgetExceededError',
]

/** What an error of a reservation says about the money. */
export function lockedAfter(error: unknown): 'refused' | 'unknown' {
  return error instanceof Error && REFUSALS.includes(error.name) ? 'refused' : 'unknown'
}

/** What came of the relayed requests of one history. */
export type RelayedSums = {
  readonly requests: number
  readonly refused: number
  readonly settled: number
  /** Transactions of several requests. */
  readonly groups: number
  /** Outcomes of resolutions, errors of callers, ends of processes, by name. */
  readonly happened: ReadonlyMap<string, number>
}

/** The sums of a history without relayed requests. */
export const NOTHING_RELAYED: RelayedSums = { requests: 0, refused: 0, settled: 0, groups: 0, happened: new Map() }

const PROCESSES = 3
const SKEW_MILLISECONDS_MAX = 5_000
/** Requests that come in one turn of a process; they share a transaction. */
const BURSTS = [1, 1, 2, 3, 6, 12] as const
/** What an upstream takes at most; some requests outlive their reservation. */
const REPLY_MILLISECONDS = [200, 2_000, 30_000, 300_000, 1_200_000] as const
/** A process that wakes after the longest one finds that Reconcile gave its reservations back. */
const FREEZE_MILLISECONDS = [2_000, 60_000, 20 * 60_000] as const
/** Requests that are resolved by two parts of the product at the same time. */
const RESOLVED_TWICE = 0.05

/** One caller of a process, and the request that it has come to. */
type Call = { readonly process: RelayProcess; readonly key: Key; request?: RelayedRequest }

/** The clients of relayed requests, and the processes that serve them. */
export class RelayClients {
  readonly requests = new Map<string, RelayedRequest>()
  /** What happened to requests and processes, by name. */
  readonly happened = new Map<string, number>()
  /** Requests that are being served. */
  underWay = 0
  readonly #world: World
  readonly #keys: () => readonly Key[]
  #processes: readonly RelayProcess[]

  /** @param keys every key that clients have, active or not. */
  constructor(world: World, keys: () => readonly Key[]) {
    this.#world = world
    this.#keys = keys
    this.#processes = Array.from({ length: PROCESSES }, () => this.#newProcess())
  }

  /** Several requests of one tenant reach one process at once. */
  burst(): void {
    const { scheduler } = this.#world
    const process = this.#liveProcess()
    const { tenantId } = pick(scheduler, this.#keys())
    const keys = this.#keys().filter((key) => key.tenantId === tenantId)
    for (let left = pick(scheduler, BURSTS); left > 0; left -= 1) {
      const call: Call = { process, key: pick(scheduler, keys) }
      this.underWay += 1
      scheduler.spawn(async () => {
        await process.run(() => this.#serve(call)).catch((error) => this.#note(String(error?.name)))
        if (call.request?.locked === 'asked') {
          call.request.locked = 'unknown'
        }
        this.underWay -= 1
      })
    }
  }

  killProcess(): void {
    this.#liveProcess().kill()
    this.#note('killed')
  }

  freezeProcess(): void {
    this.#liveProcess().freeze(pick(this.#world.scheduler, FREEZE_MILLISECONDS))
    this.#note('frozen')
  }

  sums(): RelayedSums {
    const requests = [...this.requests.values()]
    const groups = this.#world.table.transactions.map(({ items }) => items.filter(isRowOfRequest).length)
    return {
      requests: requests.length,
      refused: requests.filter(({ locked }) => locked === 'refused').length,
      settled: requests.filter(({ resolved }) => resolved[0]?.kind === 'settle').length,
      groups: groups.filter((size) => size > 1).length,
      happened: this.happened,
    }
  }

  /** One of the processes; a dead one is replaced. */
  #liveProcess(): RelayProcess {
    this.#processes = this.#processes.map((process) => (process.isDead ? this.#newProcess() : process))
    return pick(this.#world.scheduler, this.#processes)
  }

  #newProcess(): RelayProcess {
    const { scheduler, table } = this.#world
    const skewMilliseconds = Math.trunc((scheduler.random() - 0.5) * 2 * SKEW_MILLISECONDS_MAX)
    return new RelayProcess({ scheduler, table: table.table, skewMilliseconds })
  }

  /** What relaying does: find the caller, lock, ask the upstream, resolve. */
  async #serve(call: Call): Promise<void> {
    const { scheduler } = this.#world
    const { process, key } = call
    const found = await process.callers.lookUp(key.digest)
    if (found === undefined) {
      throw new InvalidApiKeyError()
    }
    const request = await this.#lock(call, drawReservation(this.#world, key), found.caller)
    await scheduler.pause(scheduler.random() * pick(scheduler, REPLY_MILLISECONDS))
    const resolutions = [drawResolution(scheduler, request)]
    if (scheduler.random() < RESOLVED_TWICE) {
      resolutions.push(drawResolution(scheduler, request))
    }
    await Promise.all(resolutions.map((resolution) => this.#resolve(process, request, resolution)))
  }

  /** A key that was changed since it was read is read again, and the request goes on with what it is now. */
  async #lock(
    call: Call,
    wanted: RelayReservation,
    { revision: keyRevision, budget }: Caller,
  ): Promise<RelayedRequest> {
    const { process, key } = call
    const reservation = { ...wanted, keyRevision, budget, reservedAt: process.nowMilliseconds() }
    const request: RelayedRequest = { reservation, locked: 'asked', asked: [], resolved: [] }
    call.request = request
    this.requests.set(reservation.requestId, request)
    try {
      await process.ledger.reserve(reservation)
      request.locked = 'yes'
      return request
    } catch (error) {
      request.locked = lockedAfter(error)
      if (!(error instanceof InvalidApiKeyError)) {
        throw error
      }
      process.callers.forget(key.digest)
      const changed = await process.callers.confirm(key.digest)
      if (changed.revision === keyRevision) {
        throw error
      }
      this.#note('changed key')
      return await this.#lock(call, wanted, changed)
    }
  }

  async #resolve(process: RelayProcess, request: RelayedRequest, resolution: RelayResolution): Promise<void> {
    request.asked.push(resolution)
    const outcome = await process.ledger.resolve(request.reservation, resolution)
    this.#note(outcome)
    if (outcome === 'resolved') {
      request.resolved.push(resolution)
    }
  }

  #note(name: string): void {
    this.happened.set(name, (this.happened.get(name) ?? 0) + 1)
  }
}

/** Whether a write resolves a relayed request; rows of jobs name no model. */
function isRowOfRequest({ Put }: Written['items'][number]): boolean {
  return String(Put?.Item?.SK).endsWith('#2') && Put?.Item?.reservedAt !== undefined
}
