import type { Clock } from '../../clock.ts'
import type { Table } from '../table/table.ts'
import { groupSize, isFullGroup, type Order } from './group-transaction.ts'
import { GroupWriter } from './group-writer.ts'

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
