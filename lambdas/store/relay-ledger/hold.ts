import { randomUUID } from 'node:crypto'
import * as z from 'zod/mini'
import { timeOrderedId } from '#core/ids.ts'
import type { Microcredits } from '#core/money.ts'
import { storedAmount } from '../table/attributes.ts'
import type { Item, ItemUpdate } from '../table/table.ts'
import { dueSortKey, HOLDS_PARTITION, tableKeys } from '../table/table-keys.ts'
import { RELAY_LIFETIME_MILLISECONDS, type RelayReservation } from './relay-reservation.ts'

/** Identifies the hold of one process for one tenant. */
export type HoldKey = { readonly tenantId: string; readonly holdId: string }

type HoldContent = {
  /** Oldest first. */
  readonly open: readonly RelayReservation[]
  /** Number of the write. */
  readonly version: number
  /** Milliseconds. */
  readonly renewedAt: number
}

/**
 * The write of a hold's whole content, refused unless the last write was `known`; 0 for none. The index keeps its item as the first
 * write made it, so that renewals cost nothing there.
 */
export function writeHold({ tenantId, holdId }: HoldKey, content: HoldContent, known: number): ItemUpdate {
  const { open, version, renewedAt } = content
  const isNew = known === 0
  const indexed = isNew ? ', GSI1PK = :partition, GSI1SK = :due' : ''
  return {
    Key: tableKeys.relayHold(tenantId, holdId),
    UpdateExpression: `SET version = :version, amount = :amount, requests = :requests, #open = :open, budgets = :budgets, renewedAt = :renewedAt${indexed}`,
    ConditionExpression: isNew ? 'attribute_not_exists(PK)' : 'version = :known',
    ExpressionAttributeNames: { '#open': 'open' },
    ExpressionAttributeValues: {
      ':version': version,
      ':amount': open.reduce((sum, { amount }) => sum + amount, 0n),
      ':requests': open.length,
      ':open': nameRequests(open),
      ':budgets': budgetsOf(open),
      ':renewedAt': renewedAt,
      ...(isNew
        ? { ':partition': HOLDS_PARTITION, ':due': dueSortKey(renewedAt + RELAY_LIFETIME_MILLISECONDS) }
        : { ':known': known }),
    },
  }
}

/** What open requests hold in the budgets of their keys. */
function budgetsOf(open: readonly RelayReservation[]): Readonly<Record<string, bigint>> {
  const sums: Record<string, bigint> = {}
  for (const { budget, amount } of open) {
    if (budget !== undefined) {
      sums[budget.id] = (sums[budget.id] ?? 0n) + amount
    }
  }
  return sums
}

/** An open request as its hold names it. */
export type NamedRequest = {
  readonly id: string
  readonly amount: Microcredits
  /** When it was reserved, in milliseconds. */
  readonly at: number
  readonly model: string
  readonly operation: string
  readonly keyId: string
}

/** The names of requests may take this much, so that the item stays below a kilobyte: a larger one costs twice as much to write. */
const NAMES_BYTES_MAX = 750

/** Names the oldest requests for which there is room. The others count in the sums alone. */
function nameRequests(open: readonly RelayReservation[]): readonly Item[] {
  const named: Item[] = []
  let bytes = 0
  for (const { requestId, amount, reservedAt, model, operation, keyId } of open) {
    const name = { id: requestId, amount, at: reservedAt, model, operation, keyId }
    bytes += bytesOf(name)
    if (bytes > NAMES_BYTES_MAX) {
      break
    }
    named.push(name)
  }
  return named
}

/** Characters that DynamoDB adds to a map and to each of its attributes; numbers are counted by their digits, which are more. */
const OVERHEAD_BYTES = { map: 4, attribute: 2 }

function bytesOf(name: Item): number {
  return Object.entries(name).reduce(
    (sum, [attribute, value]) => sum + attribute.length + Buffer.byteLength(String(value)) + OVERHEAD_BYTES.attribute,
    OVERHEAD_BYTES.map,
  )
}

const holdItem = z.object({
  PK: z.string(),
  SK: z.string(),
  version: z.number(),
  amount: storedAmount,
  requests: z.number(),
  renewedAt: z.number(),
  open: z.array(
    z.object({
      id: z.string(),
      amount: storedAmount,
      at: z.number(),
      model: z.string(),
      operation: z.string(),
      keyId: z.string(),
    }),
  ),
  budgets: z._default(z.record(z.string(), storedAmount), {}),
})

/** A hold as the table has it. */
export type StoredHold = HoldKey & {
  readonly version: number
  /** The sum of all open reservations. */
  readonly amount: Microcredits
  /** The number of open requests. */
  readonly requests: number
  /** When its latest reservation was made, in milliseconds. */
  readonly renewedAt: number
  /** Open requests by name; there may be more. */
  readonly open: readonly NamedRequest[]
  /** What the open requests hold in the budgets of their keys, by the id of the budget. */
  readonly budgets: Readonly<Record<string, Microcredits>>
}

/** Reads a hold from its item. @throws ZodError for an item that this service did not write. */
export function readHoldItem(item: Item): StoredHold {
  const { PK, SK, ...rest } = holdItem.parse(item)
  return { ...rest, tenantId: PK.slice(PK.indexOf('#') + 1), holdId: SK.slice(SK.indexOf('#') + 1) }
}

/** The reservations of a hold that it does not name: their number and their sum. */
export function unnamedRest({ amount: held, requests, open }: StoredHold): {
  readonly requests: number
  readonly amount: Microcredits
} {
  const named = open.reduce((sum, each) => sum + each.amount, 0n)
  return { requests: requests - open.length, amount: (held - named) as Microcredits }
}

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
