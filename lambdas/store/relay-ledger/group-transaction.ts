import { type BudgetPeriod, isOutdated, type MoneyMove, movingPeriod, movingTime, periodAt } from '#core/budgets.ts'
import { moveKeyBudget, moveTenantBudget } from '../budget-moves.ts'
import { readKeyBudget, readTenantBudget } from '../budgets.ts'
import { activeKeyCheck } from '../callers.ts'
import type { ConditionsNotMetError, ItemUpdate, NamedWrites, TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { counterNameOf, countUsage } from '../usage.ts'
import type { HoldChange } from './hold.ts'
import {
  billedAmount,
  countedSettlement,
  putRow,
  type RelayReservation,
  type RelayResolution,
  resolutionRow,
} from './relay-reservation.ts'

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
  const rows = resolving.map((order) => [GROUP_WRITES.row(order), putRow(resolutionRow(order))] as const)
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
function sumUp(orders: readonly Order[]): MoneyMove {
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

/** What a process knows of the budgets of one tenant and of its keys: their periods, by the latest transactions. */
export class GroupBudgets {
  #tenant: BudgetPeriod | undefined
  readonly #keys = new Map<string, BudgetPeriod>()
  /** Budgets that are not in the table. */
  readonly #missing = new Set<string>()

  /** The period of the tenant's budget; undefined for a tenant without one. */
  get tenant(): BudgetPeriod | undefined {
    return this.#tenant
  }

  /** Whether the budget of this order is gone from the table. */
  isMissing({ reservation: { budget } }: Order): boolean {
    return budget !== undefined && this.#missing.has(budget.id)
  }

  /** When a group moves money, which is never before a known period of its budgets. */
  timeOf(orders: readonly Order[], nowMilliseconds: number): number {
    const ids = orders.flatMap(({ reservation }) => reservation.budget?.id ?? [])
    return movingTime([this.#tenant, ...ids.map((id) => this.#keys.get(id))], nowMilliseconds)
  }

  /** The writes that move the budgets of keys, one for each. */
  moveKeys(orders: readonly Order[], nowMilliseconds: number): NamedWrites {
    const writes = movesOf(orders).flatMap(({ id, kind, move }) =>
      this.#missing.has(id)
        ? []
        : [
            [
              GROUP_WRITES.budget(id),
              moveKeyBudget(id, {
                move,
                known: this.#keys.get(id) ?? periodAt(kind, nowMilliseconds),
                nowMilliseconds,
              }),
            ] as const,
          ],
    )
    return Object.fromEntries(writes)
  }

  /** Remembers what a written group has proved. */
  learn(orders: readonly Order[], nowMilliseconds: number): void {
    this.#tenant = this.#tenant && movingPeriod(this.#tenant, nowMilliseconds)
    for (const { id, kind } of movesOf(orders)) {
      const known = this.#keys.get(id) ?? periodAt(kind, nowMilliseconds)
      this.#keys.set(id, movingPeriod(known, nowMilliseconds))
    }
    this.#missing.clear()
  }

  /** A missing budget may be set again: it is missed anew by the next group. */
  forgetMissing(orders: readonly Order[]): void {
    for (const { kind, reservation } of orders) {
      if (kind === 'reserve' && reservation.budget !== undefined) {
        this.#missing.delete(reservation.budget.id)
      }
    }
  }

  /**
   * Takes over what the items of a refused group show.
   * @returns whether a budget was not as known. The group is then composed again before any order is judged.
   */
  correct(orders: readonly Order[], { failed, oldItems }: ConditionsNotMetError, nowMilliseconds: number): boolean {
    const balance = oldItems.get(GROUP_WRITES.balance)
    let isCorrected = false
    if (balance !== undefined) {
      const actual = readTenantBudget(balance)?.period
      isCorrected = isOutdated(this.#tenant, actual, nowMilliseconds)
      this.#tenant = actual
    }
    for (const { id, kind } of movesOf(orders).filter((each) => failed.has(GROUP_WRITES.budget(each.id)))) {
      const item = oldItems.get(GROUP_WRITES.budget(id))
      if (item === undefined) {
        this.#missing.add(id)
        isCorrected = true
      } else {
        const actual = readKeyBudget(item).period
        const known = this.#keys.get(id) ?? periodAt(kind, nowMilliseconds)
        isCorrected ||= isOutdated(known, actual, nowMilliseconds)
        this.#keys.set(id, actual)
      }
    }
    return isCorrected
  }
}

type KeyBudgetMove = { readonly id: string; readonly kind: BudgetPeriod['kind']; readonly move: MoneyMove }

/** What a group moves in each budget of a key. */
function movesOf(orders: readonly Order[]): KeyBudgetMove[] {
  const byBudget = Map.groupBy(
    orders.filter(({ reservation }) => reservation.budget !== undefined),
    ({ reservation }) => reservation.budget?.id ?? '',
  )
  return [...byBudget].map(([id, own]) => ({
    id,
    kind: own[0]?.reservation.budget?.kind ?? 'total',
    move: sumUp(own),
  }))
}
