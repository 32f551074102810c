import { InvalidApiKeyError } from '#core/errors.ts'
import type { Caller } from '#store/callers.ts'
import type { RelayReservation, RelayResolution } from '#store/relay-ledger/relay-reservation.ts'
import { drawReservation, drawResolution } from './draw-request.ts'
import { pick } from './faults.ts'
import type { Key } from './operators.ts'
import { RelayProcess } from './relay-process.ts'
import { lockedAfter, type RelayedRequest, type RelayedSums } from './relayed-request.ts'
import type { Written } from './simulated-table.ts'
import type { World } from './world.ts'

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
