import { readVideoJobItem } from '#adapters/store/jobs/video-job-item.ts'
import { readEarlierReservation } from '#adapters/store/money/earlier-reservation.ts'
import { readHoldItem } from '#adapters/store/money/hold-item.ts'
import { readReservationItem } from '#adapters/store/money/reservation.ts'
import { readUsageCounter } from '#adapters/store/money/usage-counters.ts'
import { counterIdOf } from '#core/quota/usage-counter.ts'
import type { Item } from './table-mirror.ts'

/** Everything in the table at one moment, by what it is. */
export type Snapshot = ReturnType<typeof readSnapshot>

/** @throws ZodError for an item of another form than the product reads. */
export function readSnapshot(items: readonly Item[]) {
  const keyed = items.map(keyedItem)
  const of = (isMeant: (pk: string, sk: string) => boolean) => keyed.filter(({ pk, sk }) => isMeant(pk, sk))
  return {
    balances: of((pk) => pk.startsWith('BAL#')).map(({ pk, item }) => [pk.slice(4), readBalance(item)] as const),
    jobs: new Map(
      of((pk, sk) => pk.startsWith('T#') && sk.startsWith('JOB#')).map(({ sk, item }) => [sk.slice(4), jobOf(item)]),
    ),
    reservations: new Map(
      of((pk, sk) => pk.startsWith('T#') && sk.startsWith('HOLD#')).map(({ pk, sk, item }) => [
        sk.slice(5),
        { tenantId: pk.slice(2), jobId: sk.slice(5), ...reservationOf(item) },
      ]),
    ),
    /** Open reservations of relayed requests as version 0.2.0 wrote them. */
    earlier: new Map(
      of((pk, sk) => pk.startsWith('T#') && sk.startsWith('REQ#')).map(({ sk, item }) => [
        sk.slice(4),
        earlierOf(item),
      ]),
    ),
    holds: of((pk, sk) => pk.startsWith('T#') && sk.startsWith('PROC#')).map(({ item }) => holdOf(item)),
    counters: of((pk) => pk.startsWith('U#')).map(({ pk, item }) => {
      const counter = counterOf(item)
      return { tenantId: pk.slice(2), id: counterIdOf(counter), ...counter }
    }),
    ledger: new Map(of((pk) => pk.startsWith('L#')).map(({ pk, sk, item }) => [`${pk}/${sk}`, textOf(item)])),
    rows: of((pk) => pk.startsWith('L#')).map(({ pk, item }) => ({ tenantId: pk.slice(2), item })),
    keys: new Map(
      of((pk) => pk.startsWith('K#')).map(({ pk, item }) => [
        pk.slice(2),
        { state: keyState(item), revision: item.revision },
      ]),
    ),
    channels: new Map(of((pk) => pk.startsWith('CH#')).map(({ pk, item }) => [pk.slice(3), Number(item.open)])),
    cleanUps: of(() => true).filter(({ item }) => item.GSI1PK === 'CLEANUP').length,
  }
}

function keyState({ state, suspended }: Item): string {
  return suspended === true ? 'suspended' : String(state)
}

/** Reads an item once: the snapshots of a history share the items that did not change. */
function once<Value>(read: (item: Item) => Value): (item: Item) => Value {
  const known = new WeakMap<Item, { readonly value: Value }>()
  return (item) => {
    const { value } = known.get(item) ?? { value: read(item) }
    known.set(item, { value })
    return value
  }
}

const jobOf = once(readVideoJobItem)
const reservationOf = once(readReservationItem)
const earlierOf = once(readEarlierReservation)
const holdOf = once(readHoldItem)
const counterOf = once(readUsageCounter)
const keyedItem = once((item) => ({ item, pk: String(item.PK), sk: String(item.SK) }))

/** A row as it must stay; the mark of a counted settlement may come later. */
const textOf = once(({ counted, ...row }) => textOfValue(row))

/** The same for equal values: the table returns the attributes of an item in any order. */
function textOfValue(value: unknown): string {
  return typeof value === 'object' && value !== null
    ? `{${Object.entries(value)
        .map(([name, part]) => `${name}=${textOfValue(part)}`)
        .toSorted()
        .join()}}`
    : String(value)
}

/** A stored amount, in microcredits; nothing is zero. */
export function amount(value: unknown): bigint {
  return BigInt(typeof value === 'bigint' ? value : Number(value ?? 0))
}

export type Balance = ReturnType<typeof readBalance>

function readBalance(item: Item) {
  return {
    available: amount(item.available),
    held: amount(item.held),
    spent: amount(item.spent),
    granted: amount(item.granted),
    openJobs: Number(item.openJobs ?? 0),
    openJobsMax: Number(item.openJobsMax ?? Number.POSITIVE_INFINITY),
  }
}
