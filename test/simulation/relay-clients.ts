import type { RelayResolution } from '#adapters/store/money/relay-reservation.ts'
import { microcredits } from '#core/money/money.ts'
import { pick } from './faults.ts'
import { RelayProcess } from './relay-process.ts'
import { lockedAfter, type RelayedRequest, type RelayedSums } from './relayed-request.ts'
import type { Written } from './simulated-table.ts'
import type { World } from './world.ts'

const PROCESSES = 3
const SKEW_MILLISECONDS_MAX = 5_000
/** Requests that come in one turn of a process; they share a transaction. */
const BURSTS = [1, 1, 2, 3, 6, 12] as const
const AMOUNT_MICROCREDITS_MAX = 300_000
/** What an upstream takes at most; some requests outlive their reservation. */
const REPLY_MILLISECONDS = [200, 2_000, 30_000, 300_000, 1_200_000] as const
/** A process that wakes after the longest one finds that Reconcile gave its reservations back. */
const FREEZE_MILLISECONDS = [2_000, 60_000, 20 * 60_000] as const
/** Requests that are resolved by two parts of the product at the same time. */
const RESOLVED_TWICE = 0.05

type Key = { readonly tenantId: string; readonly digest: string }

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
      const request = this.#newRequest(process, pick(scheduler, keys))
      this.underWay += 1
      scheduler.spawn(async () => {
        await process.run(() => this.#serve(process, request)).catch((error) => this.#note(String(error?.name)))
        if (request.locked === 'asked') {
          request.locked = 'unknown'
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

  #newRequest(process: RelayProcess, { tenantId, digest }: Key): RelayedRequest {
    const { scheduler } = this.#world
    const requestId = this.#world.context().newJobId()
    const reservation = {
      tenantId,
      requestId,
      keyDigest: digest,
      keyId: digest,
      model: pick(scheduler, ['chat-default', 'embedding']),
      operation: 'create-chat-completion',
      amount: microcredits(1 + Math.trunc(scheduler.random() * AMOUNT_MICROCREDITS_MAX)),
      reservedAt: process.nowMilliseconds(),
    }
    const request: RelayedRequest = { reservation, locked: 'asked', asked: [], resolved: [] }
    this.requests.set(requestId, request)
    return request
  }

  /** What relaying does: lock, ask the upstream, resolve. */
  async #serve(process: RelayProcess, request: RelayedRequest): Promise<void> {
    const { scheduler } = this.#world
    try {
      await process.ledger.reserve(request.reservation)
    } catch (error) {
      request.locked = lockedAfter(error)
      throw error
    }
    request.locked = 'yes'
    await scheduler.pause(scheduler.random() * pick(scheduler, REPLY_MILLISECONDS))
    const resolutions = [this.#drawResolution(request)]
    if (scheduler.random() < RESOLVED_TWICE) {
      resolutions.push(this.#drawResolution(request))
    }
    await Promise.all(resolutions.map((resolution) => this.#resolve(process, request, resolution)))
  }

  async #resolve(process: RelayProcess, request: RelayedRequest, resolution: RelayResolution): Promise<void> {
    request.asked.push(resolution)
    const outcome = await process.ledger.resolve(request.reservation, resolution)
    this.#note(outcome)
    if (outcome === 'resolved') {
      request.resolved.push(resolution)
    }
  }

  /** Billed by usage, billed by estimate because it was cut, or given back. */
  #drawResolution({ reservation }: RelayedRequest): RelayResolution {
    const { scheduler } = this.#world
    const share = scheduler.random()
    if (share < 0.25) {
      return { kind: 'release' }
    }
    const most = scheduler.random() < 0.1 ? 1.5 : 1
    const actual = microcredits(Math.trunc(Number(reservation.amount) * scheduler.random() * most))
    return { kind: 'settle', actual, estimated: share < 0.4 }
  }

  sums(): RelayedSums {
    const requests = [...this.requests.values()]
    const groups = this.#world.table.transactions.map(({ items }) => items.filter(isOfRequest).length)
    return {
      requests: requests.length,
      refused: requests.filter(({ locked }) => locked === 'refused').length,
      settled: requests.filter(({ resolved }) => resolved[0]?.kind === 'settle').length,
      groups: groups.filter((size) => size > 1).length,
      happened: this.happened,
    }
  }

  #note(name: string): void {
    this.happened.set(name, (this.happened.get(name) ?? 0) + 1)
  }
}

/** Whether a write opens or closes the reservation of a request. */
function isOfRequest({ Put, Delete }: Written['items'][number]): boolean {
  return String(Put?.Item?.SK ?? Delete?.Key?.SK).startsWith('REQ#')
}
