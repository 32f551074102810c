import type { BudgetPeriod, MoneyMove } from '#core/budgets.ts'
import { activeKeyCheck } from '../accounts/api-key-record.ts'
import type { ItemUpdate, NamedWrites, TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { moveTenantBudget } from './budget-writes.ts'
import type { HoldChange } from './relay-hold.ts'
import {
  billedAmount,
  countedSettlement,
  type RelayReservation,
  type RelayResolution,
  type ResolvedReservation,
  resolutionRow,
} from './relay-reservation.ts'
import { counterNameOf, countUsage } from './usage-counters.ts'

/** One change of a tenant's money. */
export type Order =
  | { readonly kind: 'reserve'; readonly reservation: RelayReservation }
  | {
      readonly kind: 'resolve'
      readonly reservation: RelayReservation
      readonly resolution: RelayResolution
    }

/** Names of the writes in a group's transaction. Balance and hold move once for all orders, and come first. */
export const GROUP_WRITES = {
  balance: 'balance',
  hold: 'hold',
  row: ({ reservation }: Order) => `row ${reservation.requestId}`,
  key: ({ keyDigest }: RelayReservation) => `key ${keyDigest}`,
  budget: (budgetId: string) => `budget ${budgetId}`,
} as const

/** A larger group would save almost nothing: at 90 orders the shared writes cost little per order. */
const ORDERS_MAX = 90

/** The most items of a transaction of DynamoDB. Its other bound, 4 MB, is out of reach: these items have about a kilobyte or less. */
const WRITES_MAX = 100

/** Of one order: its row or the check of its key, its usage counter and the budget of its key. */
const ORDER_WRITES_MAX = 3

/**
 * How many orders, from the first on, go into one transaction, which may touch no item twice: requests that read different revisions of a
 * key need different checks of it.
 */
export function groupSize(orders: readonly Order[]): number {
  const requests = new Set<string>()
  const revisions = new Map<string, number | undefined>()
  const writes = new Set<string>([GROUP_WRITES.balance, GROUP_WRITES.hold])
  // Few orders fit, whatever they write.
  const isCounting = writes.size + ORDER_WRITES_MAX * orders.length > WRITES_MAX
  for (const [index, order] of orders.entries()) {
    const { requestId, keyDigest, keyRevision } = order.reservation
    for (const name of isCounting ? ownWrites(order) : []) {
      writes.add(name)
    }
    const isFull = index === ORDERS_MAX || writes.size > WRITES_MAX
    if (isFull || requests.has(requestId) || readsOtherRevision(order, revisions)) {
      return index
    }
    requests.add(requestId)
    if (order.kind === 'reserve') {
      revisions.set(keyDigest, keyRevision)
    }
  }
  return orders.length
}

function readsOtherRevision(
  { kind, reservation: { keyDigest, keyRevision } }: Order,
  revisions: ReadonlyMap<string, number | undefined>,
): boolean {
  return kind === 'reserve' && revisions.has(keyDigest) && revisions.get(keyDigest) !== keyRevision
}

/** Whether no further order would go into the same transaction. */
export function isFullGroup(orders: readonly Order[]): boolean {
  return orders.length >= ORDERS_MAX || groupSize(orders) < orders.length
}

/** Names of the writes of an order; those of keys, budgets and counters may be shared with other orders. */
function ownWrites(order: Order): readonly string[] {
  const { budget } = order.reservation
  const budgets = budget === undefined ? [] : [GROUP_WRITES.budget(budget.id)]
  if (order.kind === 'reserve') {
    return [GROUP_WRITES.key(order.reservation), ...budgets]
  }
  // All orders of a group settle at the same time, so any time tells their counters apart.
  const settlement = countedSettlement({ ...order, at: 0 })
  const counters = settlement === undefined ? [] : [counterNameOf(settlement)]
  return [GROUP_WRITES.row(order), ...counters, ...budgets]
}

/** What a group changes in the hold of its process. */
export function holdChange(orders: readonly Order[]): HoldChange {
  return {
    opened: orders.flatMap(({ kind, reservation }) => (kind === 'reserve' ? [reservation] : [])),
    closed: orders.flatMap(({ kind, reservation }) => (kind === 'resolve' ? [reservation.requestId] : [])),
  }
}

/**
 * The transaction of a group, by {@link GROUP_WRITES}: one move of the balance, the hold and each budget by all amounts, a row for
 * each resolution, one addition to each usage counter, and one check for each key. Money that comes back counts before money that is
 * locked.
 */
export function composeGroup(tenantId: string, group: ComposedGroup): NamedWrites {
  const { orders, hold, budgets, nowMilliseconds } = group
  const resolving = orders.flatMap((order) => (order.kind === 'resolve' ? [{ ...order, at: nowMilliseconds }] : []))
  const nowSeconds = Math.trunc(nowMilliseconds / 1000)
  const rows = resolving.map((order) => [GROUP_WRITES.row(order), putRow(order)] as const)
  const settlements = resolving.flatMap((order) => countedSettlement(order) ?? [])
  const checks = orders.flatMap((order) =>
    order.kind === 'reserve'
      ? [[GROUP_WRITES.key(order.reservation), checkKey(order.reservation, nowSeconds)] as const]
      : [],
  )
  return {
    [GROUP_WRITES.balance]: moveFunds(tenantId, group),
    [GROUP_WRITES.hold]: { Update: { ...hold, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } },
    ...Object.fromEntries(rows),
    ...countUsage(settlements),
    ...Object.fromEntries(checks),
    ...budgets.moveKeys(orders, nowMilliseconds),
  }
}

type ComposedGroup = {
  readonly orders: readonly Order[]
  /** The write of the hold. */
  readonly hold: ItemUpdate
  readonly budgets: {
    /** The period of the tenant's budget, as far as known; undefined for none. */
    readonly tenant: BudgetPeriod | undefined
    readonly moveKeys: (orders: readonly Order[], nowMilliseconds: number) => NamedWrites
  }
  /** The time of all settlements of the group, in the ledger, in counters and in budgets. */
  readonly nowMilliseconds: number
}

function putRow(order: ResolvedReservation): TableWrite {
  return { Put: { Item: resolutionRow(order), ConditionExpression: 'attribute_not_exists(PK)' } }
}

function checkKey({ keyDigest, keyRevision }: RelayReservation, nowSeconds: number): TableWrite {
  return { ConditionCheck: activeKeyCheck({ keyDigest, revision: keyRevision }, nowSeconds) }
}

function moveFunds(tenantId: string, { orders, budgets, nowMilliseconds }: ComposedGroup): TableWrite {
  const move = sumUp(orders)
  const { locked, closed, billed } = move
  const budget = moveTenantBudget({ move, known: budgets.tenant, nowMilliseconds })
  const tenantIsActive = 'attribute_exists(PK) AND #state = :active'
  const fundsSuffice = 'available >= :needed'
  const reservationsAreHeld = 'held >= :closed'
  const isReserving = orders.some(({ kind }) => kind === 'reserve')
  const isResolving = orders.some(({ kind }) => kind === 'resolve')
  return {
    Update: {
      Key: tableKeys.balance(tenantId),
      UpdateExpression: `SET available = available + :available, held = held + :held, spent = spent + :billed${budget.set}`,
      ConditionExpression: [
        ...(isReserving ? [tenantIsActive, fundsSuffice] : []),
        ...(isResolving ? [reservationsAreHeld] : []),
        budget.condition,
      ].join(' AND '),
      ...(isReserving ? { ExpressionAttributeNames: { '#state': 'state' } } : {}),
      ExpressionAttributeValues: {
        ...budget.values,
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

/** The money that orders move together. */
export function sumUp(orders: readonly Order[]): MoneyMove {
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
