import type { Table } from '../table/table.ts'
import type { Order } from './group-transaction.ts'
import { type HoldTry, NO_CHANGE, RelayHold } from './relay-hold.ts'

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
