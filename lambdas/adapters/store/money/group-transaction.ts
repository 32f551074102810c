import { activeKeyCheck } from '../accounts/api-key-record.ts'
import type { NamedWrites, TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import {
  billedAmount,
  closeReservation,
  type OpenRequest,
  putReservation,
  type RelayReservation,
  type RelayResolution,
} from './relay-reservation.ts'

/** One change of a tenant's money. */
export type Order =
  | { readonly kind: 'reserve'; readonly reservation: RelayReservation }
  | {
      readonly kind: 'resolve'
      readonly reservation: OpenRequest
      readonly resolution: RelayResolution
      /** Milliseconds. */
      readonly at: number
    }

/** Names of the writes in a group's transaction. The balance moves once for all orders, and comes first. */
export const GROUP_WRITES = {
  balance: 'balance',
  open: ({ reservation }: Order) => `open ${reservation.requestId}`,
  row: ({ reservation }: Order) => `row ${reservation.requestId}`,
  key: ({ keyDigest }: RelayReservation) => `key ${keyDigest}`,
} as const

/** DynamoDB takes 100 items and 4 MB in a transaction; none of these items has a kilobyte. */
const WRITES_MAX = 90

/**
 * How many orders, from the first on, go into one transaction, which may touch no item twice: requests that read different revisions of a
 * key need different checks of it.
 */
export function groupSize(orders: readonly Order[]): number {
  const keys = new Map<string, number | undefined>()
  const requests = new Set<string>()
  let writes = 1
  for (const [index, order] of orders.entries()) {
    writes += order.kind === 'resolve' || !keys.has(order.reservation.keyDigest) ? 2 : 1
    if (writes > WRITES_MAX || requests.has(order.reservation.requestId) || readsOtherRevision(order, keys)) {
      return index
    }
    requests.add(order.reservation.requestId)
    if (order.kind === 'reserve') {
      keys.set(order.reservation.keyDigest, order.reservation.keyRevision)
    }
  }
  return orders.length
}

function readsOtherRevision(order: Order, keys: ReadonlyMap<string, number | undefined>): boolean {
  if (order.kind === 'resolve') {
    return false
  }
  const { keyDigest, keyRevision } = order.reservation
  return keys.has(keyDigest) && keys.get(keyDigest) !== keyRevision
}

/**
 * The transaction of a group, by {@link GROUP_WRITES}: one move of the balance by all amounts, each order's own items, and one
 * check for each key. Money that comes back counts before money that is locked.
 */
export function composeGroup(tenantId: string, orders: readonly Order[], nowSeconds: number): NamedWrites {
  const own = orders.flatMap((order) => ownWrites(order))
  const checks = orders.flatMap((order) =>
    order.kind === 'reserve'
      ? [[GROUP_WRITES.key(order.reservation), checkKey(order.reservation, nowSeconds)] as const]
      : [],
  )
  return Object.fromEntries([[GROUP_WRITES.balance, moveFunds(tenantId, orders)], ...own, ...checks])
}

function ownWrites(order: Order): (readonly [string, TableWrite])[] {
  if (order.kind === 'reserve') {
    return [[GROUP_WRITES.open(order), putReservation(order.reservation)]]
  }
  const { open, row } = closeReservation(order.reservation, order.resolution, order.at)
  return [
    [GROUP_WRITES.open(order), open],
    [GROUP_WRITES.row(order), row],
  ]
}

function checkKey({ keyDigest, keyRevision }: RelayReservation, nowSeconds: number): TableWrite {
  return { ConditionCheck: activeKeyCheck({ keyDigest, revision: keyRevision }, nowSeconds) }
}

function moveFunds(tenantId: string, orders: readonly Order[]): TableWrite {
  const { locked, closed, billed } = sumUp(orders)
  const tenantIsActive = 'attribute_exists(PK) AND #state = :active'
  const fundsSuffice = 'available >= :needed'
  const reservationsAreHeld = 'held >= :closed'
  const isReserving = orders.some(({ kind }) => kind === 'reserve')
  const isResolving = orders.some(({ kind }) => kind === 'resolve')
  return {
    Update: {
      Key: tableKeys.balance(tenantId),
      UpdateExpression: 'SET available = available + :available, held = held + :held, spent = spent + :billed',
      ConditionExpression: [
        ...(isReserving ? [tenantIsActive, fundsSuffice] : []),
        ...(isResolving ? [reservationsAreHeld] : []),
      ].join(' AND '),
      ...(isReserving ? { ExpressionAttributeNames: { '#state': 'state' } } : {}),
      ExpressionAttributeValues: {
        ':available': closed - billed - locked,
        ':held': locked - closed,
        ':billed': billed,
        ...(isReserving ? { ':active': 'active', ':needed': locked - (closed - billed) } : {}),
        ...(isResolving ? { ':closed': closed } : {}),
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  }
}

function sumUp(orders: readonly Order[]): { locked: bigint; closed: bigint; billed: bigint } {
  const sums = { locked: 0n, closed: 0n, billed: 0n }
  for (const order of orders) {
    if (order.kind === 'reserve') {
      sums.locked += order.reservation.amount
    } else {
      sums.closed += order.reservation.amount
      sums.billed += billedAmount(order.resolution)
    }
  }
  return sums
}
