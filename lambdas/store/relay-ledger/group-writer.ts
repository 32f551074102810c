import { BudgetExceededError } from '#core/budgets.ts'
import { ServiceUnavailableError } from '#core/errors.ts'
import { ConditionsNotMetError, type Table } from '../table/table.ts'
import { composeGroup, GROUP_WRITES, GroupBudgets, holdChange, type Order } from './group-transaction.ts'
import { type HoldTry, NO_CHANGE, RelayHold } from './hold.ts'
import { isolate, judgeGroup, type Verdict } from './judge-group.ts'

/** A group that may be written, or may yet arrive, and the write of the hold in its transaction. */
export type DoubtfulGroup = { readonly orders: readonly Order[]; readonly tried: HoldTry }

/** What a writer of one tenant's money works with. */
export type HoldKeeperOptions = {
  readonly table: Table
  readonly tenantId: string
  readonly nowMilliseconds: () => number
}

/** What became of a group in doubt. `lost`: Reconcile has released the hold, and whether it had the group by then is unknown. */
export type Clearance = 'written' | 'not written' | 'lost'

/**
 * Tracks the stored state of this process's hold, even after a write with an unknown outcome. At most one group is in doubt:
 * before the next one is sent, a conditional write of the hold alone finds out whether the group was written, and keeps it from
 * arriving later.
 */
export class HoldKeeper {
  readonly #table: Table
  readonly #tenantId: string
  readonly #nowMilliseconds: () => number
  #hold: RelayHold
  #doubt: DoubtfulGroup | undefined
  /** Requests of earlier holds, which Reconcile released. */
  readonly #released = new Set<string>()

  constructor({ table, tenantId, nowMilliseconds }: HoldKeeperOptions) {
    this.#table = table
    this.#tenantId = tenantId
    this.#nowMilliseconds = nowMilliseconds
    this.#hold = new RelayHold(tenantId)
  }

  /** The hold as far as known. */
  get hold(): RelayHold {
    return this.#hold
  }

  /** Whether a new keeper would know as much: nothing is open, and the hold is of no use any more. */
  get isDisposable(): boolean {
    const isOver = !this.#hold.isWritten || this.#hold.isLapsed(this.#nowMilliseconds())
    return isOver && this.#hold.openCount === 0 && this.#released.size === 0 && this.#doubt === undefined
  }

  /** Whether Reconcile released this request with its hold; true once. */
  takeReleased(requestId: string): boolean {
    return this.#released.delete(requestId)
  }

  /** Remembers a group whose outcome is unknown. */
  doubt(group: DoubtfulGroup): void {
    this.#doubt = group
  }

  /**
   * Finds out what became of the group in doubt.
   * @returns undefined if none is.
   * @throws ServiceUnavailableError, and the doubt remains.
   */
  async clearDoubt(): Promise<{ readonly clearance: Clearance; readonly orders: readonly Order[] } | undefined> {
    if (this.#doubt === undefined) {
      return undefined
    }
    const { tried, orders } = this.#doubt
    const fence = this.#hold.compose(NO_CHANGE)
    const { isWritten, item } = await this.#table.updateItem(fence.update)
    this.#doubt = undefined
    const version = isWritten ? fence.number : Number(item?.version)
    return { orders, clearance: this.#readVersion(version, { tried, fence }) }
  }

  #readVersion(version: number, { tried, fence }: { tried: HoldTry; fence: HoldTry }): Clearance {
    if (version === tried.number) {
      this.#hold.adopt(tried)
      return 'written'
    }
    // A first write may have been made and released meanwhile; later ones find their hold gone.
    const isProof = this.#hold.isWritten || !this.#hold.isLapsed(this.#nowMilliseconds())
    // Numbers in between are those of earlier fences, whose outcome was unknown too.
    if (isProof && version > tried.number && version <= fence.number) {
      this.#hold.adopt({ ...fence, number: version })
      return 'not written'
    }
    this.lose()
    return 'lost'
  }

  /**
   * Leaves a hold that has lapsed, because it may be released while a reservation is sent. With open requests it stays if it proves to
   * be in the table.
   * @throws ServiceUnavailableError
   */
  async leaveLapsed(): Promise<void> {
    if (!this.#hold.isWritten || !this.#hold.isLapsed(this.#nowMilliseconds())) {
      return
    }
    if (this.#hold.openCount === 0) {
      this.#hold = new RelayHold(this.#tenantId)
      return
    }
    this.doubt({ orders: [], tried: this.#hold.compose(NO_CHANGE) })
    await this.clearDoubt()
  }

  /** The hold is gone: what it held is resolved, and the next reservation makes another. */
  lose(): void {
    for (const requestId of this.#hold.requestIds()) {
      this.#released.add(requestId)
    }
    this.#hold = new RelayHold(this.#tenantId)
  }
}

/** Reconcile released this reservation with its hold, because the process had not renewed the hold. */
export class ReservationReleasedError extends Error {
  override readonly name = 'ReservationReleasedError'
  constructor(requestId: string) {
    super(`the reservation of request ${requestId} was released with the hold of its process`)
  }
}

/** A group that was sent, with the time of its transaction. */
type SentGroup = DoubtfulGroup & { readonly nowMilliseconds: number }

/** The orders of a group that are written, and the verdict on the others. */
type GroupOutcome = Verdict & { readonly written: readonly Order[] }

/** Writes groups of one tenant's orders, one after the other, into the hold of this process. */
export class GroupWriter {
  readonly #table: Table
  readonly #tenantId: string
  readonly #nowMilliseconds: () => number
  readonly #keeper: HoldKeeper
  readonly #budgets = new GroupBudgets()
  /** Orders whose outcome was unknown and that turned out to be written. */
  readonly #proved = new WeakSet<Order>()
  #unwanted: Order[] = []

  constructor(options: HoldKeeperOptions) {
    this.#table = options.table
    this.#tenantId = options.tenantId
    this.#nowMilliseconds = options.nowMilliseconds
    this.#keeper = new HoldKeeper(options)
  }

  /** Number of open requests of this process. */
  get openCount(): number {
    return this.#keeper.hold.openCount
  }

  /** Whether a new writer could do everything that this one can. */
  get isDisposable(): boolean {
    return this.#unwanted.length === 0 && this.#keeper.isDisposable
  }

  /** Releases of reservations that were written although their callers got an error. Each is given once. */
  takeUnwanted(): Order[] {
    const orders = this.#unwanted
    this.#unwanted = []
    return orders
  }

  /**
   * Writes a group in one transaction, or in none.
   * @throws ServiceUnavailableError when the table stayed out of reach; whether the group was written is then unknown.
   */
  async write(orders: readonly Order[]): Promise<GroupOutcome> {
    await this.#clearEarlierDoubt()
    if (orders.some(({ kind }) => kind === 'reserve')) {
      await this.#keeper.leaveLapsed()
    }
    const { written, refused, left } = this.#sort(orders)
    const isWhole = left.length === orders.length
    return isWhole ? await this.#send(orders) : { written, refused, groups: left.length === 0 ? [] : [left] }
  }

  /**
   * Finds out whether the group in doubt was written. Its callers got an error: they may order its resolutions again, and its
   * reservations are released.
   */
  async #clearEarlierDoubt(): Promise<void> {
    const cleared = await this.#keeper.clearDoubt()
    for (const order of cleared?.clearance === 'written' ? cleared.orders : []) {
      this.#proved.add(order)
      if (order.kind === 'reserve') {
        this.#unwanted.push(this.#releaseOf(order.reservation))
      }
    }
  }

  /** Separates the orders whose outcome is known without a write. */
  #sort(orders: readonly Order[]): { written: Order[]; refused: Map<Order, unknown>; left: Order[] } {
    const written: Order[] = []
    const refused = new Map<Order, unknown>()
    const left: Order[] = []
    for (const order of orders) {
      const refusal = this.#refusalOf(order)
      if (this.#proved.has(order)) {
        written.push(order)
      } else if (refusal !== undefined) {
        refused.set(order, refusal)
      } else {
        left.push(order)
      }
    }
    this.#budgets.forgetMissing(orders)
    return { written, refused, left }
  }

  #refusalOf(order: Order): Error | undefined {
    const {
      kind,
      reservation: { requestId, amount },
    } = order
    if (kind === 'reserve' && this.#budgets.isMissing(order)) {
      return new BudgetExceededError()
    }
    if (kind === 'resolve' && this.#keeper.takeReleased(requestId)) {
      return new ReservationReleasedError(requestId)
    }
    const open = this.#keeper.hold.find(requestId)
    const isPossible = kind === 'reserve' ? open === undefined : open?.amount === amount
    return isPossible ? undefined : new ConditionsNotMetError([`open ${requestId}`])
  }

  async #send(orders: readonly Order[]): Promise<GroupOutcome> {
    const tried = this.#keeper.hold.compose(holdChange(orders))
    const nowMilliseconds = this.#budgets.timeOf(orders, this.#nowMilliseconds())
    const group = { orders, hold: tried.update, budgets: this.#budgets, nowMilliseconds }
    try {
      // Every process writes the one balance of the tenant.
      await this.#table.transact(composeGroup(this.#tenantId, group), { isCrowded: true })
    } catch (error) {
      return await this.#explain({ orders, tried, nowMilliseconds }, error)
    }
    this.#keeper.hold.adopt(tried)
    this.#budgets.learn(orders, nowMilliseconds)
    return allWritten(orders)
  }

  async #explain(group: SentGroup, error: unknown): Promise<GroupOutcome> {
    const { orders } = group
    if (error instanceof ConditionsNotMetError && error.isFinal) {
      return this.#judge(group, error)
    }
    this.#keeper.doubt(group)
    if (error instanceof ServiceUnavailableError) {
      throw error
    }
    const cleared = await this.#keeper.clearDoubt()
    if (cleared?.clearance === 'written') {
      return allWritten(orders)
    }
    if (cleared?.clearance === 'lost') {
      return refuseReservations(orders, error)
    }
    return error instanceof ConditionsNotMetError
      ? this.#judgeMoney(group, error)
      : { written: [], ...isolate(orders, error) }
  }

  #judge(group: SentGroup, error: ConditionsNotMetError): GroupOutcome {
    if (error.failed.has(GROUP_WRITES.hold) && this.#keeper.hold.isWritten) {
      this.#keeper.lose()
      return { written: [], refused: new Map(), groups: [group.orders] }
    }
    return this.#judgeMoney(group, error)
  }

  /** Judges at the time of the transaction: a period that ended since then must not excuse its refusal. */
  #judgeMoney({ orders, nowMilliseconds }: SentGroup, error: ConditionsNotMetError): GroupOutcome {
    const isCorrected = this.#budgets.correct(orders, error, nowMilliseconds)
    const verdict = isCorrected ? { refused: new Map(), groups: [orders] } : judgeGroup(orders, error, nowMilliseconds)
    return { written: [], ...verdict }
  }

  #releaseOf(reservation: Order['reservation']): Order {
    return { kind: 'resolve', reservation, resolution: { kind: 'release' } }
  }
}

function allWritten(orders: readonly Order[]): GroupOutcome {
  return { written: orders, refused: new Map(), groups: [] }
}

/** A reservation that may have been released with its hold must not be made again under the same id. */
function refuseReservations(orders: readonly Order[], cause: unknown): GroupOutcome {
  const reserving = orders.filter(({ kind }) => kind === 'reserve')
  const resolving = orders.filter(({ kind }) => kind === 'resolve')
  const refused = new Map(reserving.map((order) => [order, new ServiceUnavailableError({ cause })]))
  return { written: [], refused, groups: resolving.length === 0 ? [] : [resolving] }
}
