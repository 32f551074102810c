import { ServiceUnavailableError } from '#core/errors.ts'
import { type Clock, systemClock } from '../../platform/clock.ts'
import { asError, logger } from '../../platform/telemetry/logger.ts'
import { count } from '../../platform/telemetry/measures.ts'
import { ConditionsNotMetError, type Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { groupSize, isFullGroup, type Order } from './group-transaction.ts'
import { GroupWriter, ReservationReleasedError } from './group-writer.ts'
import { isSameResolution, type RelayReservation, type RelayResolution } from './relay-reservation.ts'

type TenantWriterOptions = { readonly table: Table; readonly tenantId: string; readonly clock: Clock }

type Waiting = {
  readonly order: Order
  /** Milliseconds. */
  readonly since: number
  /** Goes with the next group, and is kept while the table is out of reach. */
  readonly isPatient: boolean
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** How long a resolution waits for company while other requests are open. No client waits for it. */
const COMPANY_MILLISECONDS_MAX = 250

/**
 * The one writer of a tenant's money in a process: one transaction at a time, so that no two of them meet at the balance. A
 * reservation is sent at once, with everything that waits. A resolution waits for others while its process has other open requests:
 * a transaction costs the balance and the hold once, whatever the number of its orders (docs/performance.md).
 */
export class TenantWriter {
  readonly #groups: GroupWriter
  readonly #clock: Clock
  #waiting: Waiting[] = []
  #isWriting = false
  #isPausing = false

  constructor({ table, tenantId, clock }: TenantWriterOptions) {
    this.#groups = new GroupWriter({ table, tenantId, nowMilliseconds: clock.nowMilliseconds })
    this.#clock = clock
  }

  /** Whether nothing waits, is open or is in doubt, and the hold has lapsed: the next order may have a new writer. */
  get isDisposable(): boolean {
    return !this.#isWriting && this.#waiting.length === 0 && this.#groups.isDisposable
  }

  /**
   * Resolves when the order is written.
   * @throws InvalidApiKeyError, BudgetExceededError, InsufficientQuotaError for a reservation.
   * @throws ConditionsNotMetError for a request that is open already, or is not open, or has a row in the ledger.
   * @throws ReservationReleasedError for a request that Reconcile released.
   * @throws ServiceUnavailableError when the table stayed out of reach; what was written is then unknown.
   */
  write(order: Order): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ order, since: this.#clock.nowMilliseconds(), isPatient: false, resolve, reject })
      this.#wake()
    })
  }

  /** As {@link write}, with the tenant's next group. The order is kept while the table is out of reach. */
  writeWithNext(order: Order): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.unshift({ order, since: 0, isPatient: true, resolve, reject })
    })
  }

  #wake(): void {
    if (this.#isWriting) {
      return
    }
    if (this.#isDue()) {
      this.#start()
    } else if (!this.#isPausing) {
      void this.#pause()
    }
  }

  #isDue(): boolean {
    const urgent = this.#waiting.filter(({ isPatient }) => !isPatient)
    if (urgent.length === 0) {
      return false
    }
    const isReserving = urgent.some(({ order }) => order.kind === 'reserve')
    const allOpenWait = this.#waiting.length >= this.#groups.openCount
    return isReserving || allOpenWait || isFullGroup(this.#orders())
  }

  #orders(): Order[] {
    return this.#waiting.map(({ order }) => order)
  }

  async #pause(): Promise<void> {
    const oldest = this.#waiting.find(({ isPatient }) => !isPatient)
    if (oldest === undefined) {
      return
    }
    this.#isPausing = true
    await this.#clock.pause(Math.max(0, oldest.since + COMPANY_MILLISECONDS_MAX - this.#clock.nowMilliseconds()))
    this.#isPausing = false
    if (!this.#isWriting && this.#waiting.includes(oldest)) {
      this.#start()
    } else {
      this.#wake()
    }
  }

  #start(): void {
    this.#isWriting = true
    // Orders of the same turn of the event loop arrive before this runs.
    setImmediate(() => void this.#writeAll())
  }

  async #writeAll(): Promise<void> {
    this.#takeOwnOrders()
    do {
      await this.#writeGroup(this.#waiting.splice(0, groupSize(this.#orders())))
    } while (this.#takeOwnOrders() || this.#isDue())
    this.#isWriting = false
    this.#wake()
  }

  /** Adds the releases that no caller ordered. @returns whether there are any. */
  #takeOwnOrders(): boolean {
    const waiting = new Set(this.#waiting.map(({ order }) => order.reservation.requestId))
    const unwanted = this.#groups.takeUnwanted().filter(({ reservation }) => !waiting.has(reservation.requestId))
    // A refusal means that nothing is left to release.
    for (const order of unwanted) {
      this.writeWithNext(order).catch(() => undefined)
    }
    return unwanted.length > 0
  }

  /** Writes one group, in several transactions where one does not work for all. Never rejects. */
  async #writeGroup(group: readonly Waiting[]): Promise<void> {
    const open = new Map(group.map((waiting) => [waiting.order, waiting]))
    const left: (readonly Order[])[] = [[...open.keys()]]
    try {
      for (let orders = left.shift(); orders !== undefined; orders = left.shift()) {
        const { written, refused, groups } = await this.#groups.write(orders)
        for (const order of written) {
          open.get(order)?.resolve()
          open.delete(order)
        }
        for (const [order, error] of refused) {
          open.get(order)?.reject(error)
          open.delete(order)
        }
        left.unshift(...groups)
      }
    } catch (error) {
      // Orders that arrived meanwhile waited for the same table, so none has to wait through the same tries again.
      const all = [...open.values(), ...this.#waiting]
      this.#waiting = all.filter(({ isPatient }) => isPatient)
      for (const { reject } of all.filter(({ isPatient }) => !isPatient)) {
        reject(error)
      }
    }
  }
}

/**
 * How long a resolution is tried. The client has its response by then, and functions may run on this long. After that it goes with
 * the next group of its tenant; if there is none, Reconcile gives the reservation back, unbilled.
 */
const PATIENCE_MILLISECONDS = 30_000

/** Full jitter below this between two rounds of tries, each of which backs off by itself. */
const ROUND_PAUSE_MILLISECONDS_MAX = 1_000

/** The result of resolving a request. `already_resolved` kept an earlier resolution, the same or another. */
export type RequestOutcome = 'resolved' | 'already_resolved'

/** The money of relayed requests. A process has one ledger, which writes one transaction at a time for each tenant. */
export class RelayLedger {
  readonly #table: Table
  readonly #clock: Clock
  readonly #patienceMilliseconds: number
  readonly #writers = new Map<string, TenantWriter>()

  /** @param options.patienceMilliseconds how long a resolution is tried. */
  constructor(table: Table, { clock = systemClock, patienceMilliseconds = PATIENCE_MILLISECONDS }: LedgerOptions = {}) {
    this.#table = table
    this.#clock = clock
    this.#patienceMilliseconds = patienceMilliseconds
  }

  /**
   * Locks an estimate, in a transaction that also proves that the key is still active and unchanged. No two requests share an id.
   * @throws InvalidApiKeyError for a key that was revoked or changed or has expired, or a suspended tenant (before funds are
   * judged); nothing was locked.
   * @throws BudgetExceededError when the budget of the key, or then of the tenant, has less left than the amount.
   * @throws InsufficientQuotaError when the available balance is below the amount, or the tenant does not exist.
   * @throws ServiceUnavailableError when the table stayed out of reach. What may have been locked is given back with the tenant's next
   * group, or by Reconcile.
   * @throws ConditionsNotMetError when this request has an open reservation already.
   */
  async reserve(reservation: RelayReservation): Promise<void> {
    await this.#writerOf(reservation.tenantId).write({ kind: 'reserve', reservation })
  }

  /**
   * Bills or gives back a reservation of this ledger, at most once: the first resolution stands. Contention and outages are waited out
   * for half a minute.
   * @throws ServiceUnavailableError, or any other fault of the table, after `reservation not resolved` was logged. The resolution then
   * goes with the tenant's next group, so that a request is billed as long as its process lives.
   */
  async resolve(reservation: RelayReservation, resolution: RelayResolution): Promise<RequestOutcome> {
    const order: Resolving = { kind: 'resolve', reservation, resolution }
    try {
      return await this.#resolvePatiently(order)
    } catch (error) {
      logger.error('reservation not resolved', { ...factsOf(order), error: asError(error) })
      // After any other refusal nothing is open any more.
      if (!(error instanceof ConditionsNotMetError)) {
        void this.#resolveWithNext(order)
      }
      throw error
    }
  }

  async #resolvePatiently(order: Resolving): Promise<RequestOutcome> {
    const giveUpAt = this.#clock.nowMilliseconds() + this.#patienceMilliseconds
    for (;;) {
      try {
        await this.#writerOf(order.reservation.tenantId).write(order)
        return 'resolved'
      } catch (error) {
        if (!(error instanceof ServiceUnavailableError)) {
          return await this.#explainRefusal(order, error)
        }
        if (this.#clock.nowMilliseconds() >= giveUpAt) {
          throw error
        }
      }
      await this.#clock.pause(Math.random() * ROUND_PAUSE_MILLISECONDS_MAX)
    }
  }

  /** Never rejects. */
  async #resolveWithNext(order: Resolving): Promise<void> {
    try {
      await this.#writerOf(order.reservation.tenantId).writeWithNext(order)
      logger.warn('reservation resolved late', factsOf(order))
    } catch (refusal) {
      await this.#explainRefusal(order, refusal).catch((error: unknown) => {
        logger.error('reservation not resolved', { ...factsOf(order), error: asError(error) })
      })
    }
  }

  async #explainRefusal(order: Resolving, error: unknown): Promise<RequestOutcome> {
    const isReleased = error instanceof ReservationReleasedError
    if (!isReleased && !(error instanceof ConditionsNotMetError)) {
      throw error
    }
    const { reservation, resolution } = order
    const row = await this.#table.readItem(tableKeys.ledgerResolution(reservation.tenantId, reservation.requestId))
    if (row === undefined && !isReleased) {
      throw error
    }
    // Reconcile writes one row for all requests that a hold does not name.
    const isSame = row === undefined ? resolution.kind === 'release' : isSameResolution(row, resolution)
    if (!isSame) {
      logger.error('reservation was resolved otherwise', factsOf(order))
      count('resolution_conflict')
    }
    return 'already_resolved'
  }

  #writerOf(tenantId: string): TenantWriter {
    const writer = this.#writers.get(tenantId)
    if (writer !== undefined) {
      return writer
    }
    this.#disposeWriters()
    const made = new TenantWriter({ table: this.#table, tenantId, clock: this.#clock })
    this.#writers.set(tenantId, made)
    return made
  }

  /** Keeps the map as small as the number of tenants that were busy lately. */
  #disposeWriters(): void {
    for (const [tenantId, writer] of this.#writers) {
      if (writer.isDisposable) {
        this.#writers.delete(tenantId)
      }
    }
  }
}

type LedgerOptions = { readonly clock?: Clock; readonly patienceMilliseconds?: number }

type Resolving = Order & { readonly kind: 'resolve' }

function factsOf({ reservation: { requestId, tenantId }, resolution: { kind } }: Resolving) {
  return { requestId, tenantId, kind }
}
