import * as z from 'zod/mini'
import type { Item, ItemUpdate, Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

/** Streams of events that a key may have open at once, over all instances. */
export const EVENT_STREAMS_MAX = 20

/** A write is tried again when another one came first; more tries mean that many streams begin at once. */
const TRIES_MAX = 6

/** An item without a live lease may be deleted by the table. */
const KEPT_SECONDS = 60 * 60

/** The place of one stream among those of its key, until a time in unix seconds. */
export type EventStreamLease = { readonly keyId: string; readonly leaseId: string; readonly until: number }

const leasesItem = z.object({ leases: z.optional(z.record(z.string(), z.number())) })

/**
 * Takes a place for one stream, usually by one write. A process that dies gives its place back when its lease ends, so nothing has to
 * be renewed or cleaned up (docs/decisions/0148).
 * @returns whether there was a place.
 */
export async function takeEventStreamLease(
  table: Pick<Table, 'updateItem'>,
  lease: EventStreamLease,
  nowSeconds: number,
): Promise<boolean> {
  let update = addition(lease)
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const { isWritten, item } = await table.updateItem(update)
    if (isWritten) {
      return true
    }
    const known = readLeases(item)
    const live = Object.entries(known ?? {}).filter(([id, until]) => id !== lease.leaseId && until > nowSeconds)
    if (live.length >= EVENT_STREAMS_MAX) {
      return false
    }
    const isFull = Object.keys(known ?? {}).length >= EVENT_STREAMS_MAX
    update = known === undefined || isFull ? replacement(lease, known, Object.fromEntries(live)) : addition(lease)
  }
  return false
}

/** Joins the leases of an item that has room. A repeat of a write whose response was lost finds its own lease. */
function addition({ keyId, leaseId, until }: EventStreamLease): ItemUpdate {
  const hasRoom = 'attribute_exists(leases) AND (attribute_exists(leases.#id) OR size(leases) < :max)'
  return {
    Key: tableKeys.eventStreams(keyId),
    UpdateExpression: 'SET leases.#id = :until, #ttl = :ttl',
    ConditionExpression: hasRoom,
    ExpressionAttributeNames: { '#id': leaseId, '#ttl': 'ttl' },
    ExpressionAttributeValues: { ':until': until, ':max': EVENT_STREAMS_MAX, ':ttl': until + KEPT_SECONDS },
  }
}

type Leases = Readonly<Record<string, number>>

/** Begins an item, or drops the leases of one that ended without giving their places back. */
function replacement({ keyId, leaseId, until }: EventStreamLease, known: Leases | undefined, live: Leases): ItemUpdate {
  const isAsRead = known === undefined ? 'attribute_not_exists(leases)' : 'leases = :known'
  return {
    Key: tableKeys.eventStreams(keyId),
    UpdateExpression: 'SET leases = :leases, #ttl = :ttl',
    ConditionExpression: isAsRead,
    ExpressionAttributeNames: { '#ttl': 'ttl' },
    ExpressionAttributeValues: {
      ':leases': { ...live, [leaseId]: until },
      ':ttl': until + KEPT_SECONDS,
      ...(known === undefined ? {} : { ':known': known }),
    },
  }
}

/** Gives the place of an ended stream back: one write. A lease that is gone already stays so. */
export async function releaseEventStreamLease(
  table: Pick<Table, 'updateItem'>,
  { keyId, leaseId }: Pick<EventStreamLease, 'keyId' | 'leaseId'>,
): Promise<void> {
  await table.updateItem({
    Key: tableKeys.eventStreams(keyId),
    UpdateExpression: 'REMOVE leases.#id',
    ConditionExpression: 'attribute_exists(leases.#id)',
    ExpressionAttributeNames: { '#id': leaseId },
  })
}

function readLeases(item: Item | undefined): Leases | undefined {
  return item === undefined ? undefined : leasesItem.parse(item).leases
}
