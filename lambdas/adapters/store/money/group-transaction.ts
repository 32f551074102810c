import { type ActiveKeyCheck, activeKeyCheck } from '../accounts/active-key-check.ts'
import { tableKeys } from '../table/table-keys.ts'
import type { TableWrite } from '../table/table-write.ts'
import {
  billedAmount,
  closeReservation,
  type OpenRequest,
  putReservation,
  type RelayReservation,
  type RelayResolution,
} from './relay-reservation.ts'

/** What a tenant's money is to do next. */
export type Order =
  | { readonly kind: 'reserve'; readonly reservation: RelayReservation }
  | {
      readonly kind: 'resolve'
      readonly reservation: OpenRequest
      readonly resolution: RelayResolution
      /** Milliseconds. */
      readonly at: number
    }

/** One transaction for several orders of one tenant, and where in it each order stands. */
export type GroupTransaction = {
  readonly writes: readonly TableWrite[]
  /** Indexes of an order's own items. */
  readonly own: ReadonlyMap<Order, readonly number[]>
  /** Index of the check of each key, by its digest. */
  readonly keyChecks: ReadonlyMap<string, number>
}

/** The balance moves once for all orders, and comes first. */
export const BALANCE_INDEX = 0

/** DynamoDB takes 100 items and 4 MB in a transaction; none of ours has a kilobyte. */
const WRITES_MAX = 90

/** How many orders, from the first on, go into one transaction, which may touch no item twice. */
export function groupSize(orders: readonly Order[]): number {
  const keys = new Set<string>()
  const requests = new Set<string>()
  let writes = 1
  for (const [index, order] of orders.entries()) {
    writes += order.kind === 'resolve' || !keys.has(order.reservation.keyDigest) ? 2 : 1
    if (writes > WRITES_MAX || requests.has(order.reservation.requestId)) {
      return index
    }
    requests.add(order.reservation.requestId)
    if (order.kind === 'reserve') {
      keys.add(order.reservation.keyDigest)
    }
  }
  return orders.length
}

/**
 * The transaction of a group: the balance moved by all amounts at once, one check for each key, and each order's own items.
 * Money that comes back counts before money that is locked.
 */
export function composeGroup(tenantId: string, orders: readonly Order[], nowSeconds: number): GroupTransaction {
  const writes: TableWrite[] = [moveFunds(tenantId, orders)]
  const keyChecks = new Map<string, number>()
  const own = new Map<Order, readonly number[]>()
  for (const order of orders) {
    const items = ownItems(order)
    own.set(
      order,
      items.map((_, index) => writes.length + index),
    )
    writes.push(...items)
  }
  for (const [digest, check] of checksOf(orders, nowSeconds)) {
    keyChecks.set(digest, writes.length)
    writes.push({ ConditionCheck: check })
  }
  return { writes, own, keyChecks }
}

function ownItems(order: Order): readonly TableWrite[] {
  return order.kind === 'reserve'
    ? [putReservation(order.reservation)]
    : closeReservation(order.reservation, order.resolution, order.at)
}

function checksOf(orders: readonly Order[], nowSeconds: number): ReadonlyMap<string, ActiveKeyCheck> {
  const reserving = orders.flatMap((order) => (order.kind === 'reserve' ? [order.reservation.keyDigest] : []))
  return new Map(reserving.map((digest) => [digest, activeKeyCheck(digest, nowSeconds)]))
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
