import { randomUUID } from 'node:crypto'
import { timeOrderedId } from '#core/ids.ts'
import type { ItemUpdate } from '../table/table.ts'
import { writeHold } from './hold-item.ts'
import { RELAY_LIFETIME_MILLISECONDS, type RelayReservation } from './relay-reservation.ts'

/** Reservations that a transaction adds to a hold and takes from it. */
export type HoldChange = {
  readonly opened: readonly RelayReservation[]
  /** Ids of requests. */
  readonly closed: readonly string[]
}

/** Twelve hexadecimal digits of this process, in which the ids of its holds end: a local host tells its own holds from earlier ones. */
export const PROCESS_ID = randomUUID().slice(-12)

/** A write of a hold that was composed and not yet adopted. */
export type HoldTry = { readonly number: number; readonly change: HoldChange; readonly update: ItemUpdate }

export const NO_CHANGE: HoldChange = { opened: [], closed: [] }

/**
 * What one process holds of one tenant's money for relayed requests: its open reservations, and how far the item in the table is
 * known. Only this process writes the item, until Reconcile deletes it. Every write depends on the last known one, so that a write
 * which is still under way cannot arrive after its successor; and every write has a number of its own, so that the item says which
 * write it comes from.
 */
export class RelayHold {
  readonly tenantId: string
  readonly holdId = timeOrderedId(randomUUID().slice(0, -PROCESS_ID.length) + PROCESS_ID, Date.now())
  /** By request, oldest first. */
  #open: ReadonlyMap<string, RelayReservation> = new Map<string, RelayReservation>()
  /** Number of the last write that is known to be in the table; 0 for none. */
  #version = 0
  #lastTry = 0
  #renewedAt = 0

  constructor(tenantId: string) {
    this.tenantId = tenantId
  }

  get openCount(): number {
    return this.#open.size
  }

  /** Whether the item is known to be in the table. */
  get isWritten(): boolean {
    return this.#version > 0
  }

  /** The open reservation of a request. */
  find(requestId: string): RelayReservation | undefined {
    return this.#open.get(requestId)
  }

  /** Ids of the open requests, oldest first. */
  requestIds(): Iterable<string> {
    return this.#open.keys()
  }

  /** Whether Reconcile may have deleted the item, because no reservation has renewed it for as long as a function lives. */
  isLapsed(nowMilliseconds: number): boolean {
    return nowMilliseconds >= this.#renewedAt + RELAY_LIFETIME_MILLISECONDS
  }

  /** Composes the next write, with the whole content after a change. */
  compose(change: HoldChange): HoldTry {
    this.#lastTry += 1
    // The age of a hold counts from its latest reservation, even an unwritten one.
    this.#renewedAt = change.opened.reduce((latest, { reservedAt }) => Math.max(latest, reservedAt), this.#renewedAt)
    const open = afterChange(this.#open, change)
    const content = { open: [...open.values()], version: this.#lastTry, renewedAt: this.#renewedAt }
    return { number: this.#lastTry, change, update: writeHold(this, content, this.#version) }
  }

  /** Takes over a try that is in the table. */
  adopt({ number, change }: HoldTry): void {
    this.#open = afterChange(this.#open, change)
    this.#version = number
  }
}

/** A new map: a long-lived one whose entries come and go burdens garbage collection (docs/decisions/0121). */
function afterChange(
  before: ReadonlyMap<string, RelayReservation>,
  { opened, closed }: HoldChange,
): ReadonlyMap<string, RelayReservation> {
  const open = new Map(before)
  for (const requestId of closed) {
    open.delete(requestId)
  }
  for (const reservation of opened) {
    open.set(reservation.requestId, reservation)
  }
  return open
}
