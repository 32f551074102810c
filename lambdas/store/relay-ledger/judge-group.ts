import * as z from 'zod/mini'
import { type Budget, BudgetExceededError, budgetAt } from '#core/budgets.ts'
import { InsufficientQuotaError } from '#core/errors.ts'
import type { Microcredits } from '#core/money.ts'
import { refusedKey } from '#core/refused-key.ts'
import { readKeyBudget, readTenantBudget } from '../budgets.ts'
import { storedAmount } from '../table/attributes.ts'
import { ConditionsNotMetError, type Item } from '../table/table.ts'
import { GROUP_WRITES, type Order } from './group-transaction.ts'
import { billedAmount } from './relay-reservation.ts'

/** What a refused transaction means for each of its orders. */
export type Verdict = {
  /** Orders that are refused for good, each with its own error. */
  readonly refused: ReadonlyMap<Order, unknown>
  /** Orders to try again, group after group. */
  readonly groups: readonly (readonly Order[])[]
}

/**
 * Finds the orders that made the conditions of a group fail, so that no order is refused because of another one: keys are judged before
 * money. The others are tried again in smaller groups, so that the tries come to an end.
 */
export function judgeGroup(orders: readonly Order[], error: ConditionsNotMetError, nowMilliseconds: number): Verdict {
  const guilty = new Map(orders.flatMap((order) => judgeItems(order, error)))
  const rest = orders.filter((order) => !guilty.has(order))
  const money = judgeMoney(rest, error, nowMilliseconds)
  const refused = new Map<Order, unknown>([...guilty, ...money.refused])
  const groups = money.groups.filter(({ length }) => length > 0)
  return refused.size > 0 || groups.length > 1 ? { refused, groups } : isolate(orders, error)
}

type Refusal = readonly [Order, Error]

/** Refuses an order whose key may not spend, or whose request has a row in the ledger. */
function judgeItems(order: Order, error: ConditionsNotMetError): readonly Refusal[] {
  if (order.kind === 'reserve' && error.failed.has(GROUP_WRITES.key(order.reservation))) {
    return [[order, refusedKey(order.reservation.keyDigest)]]
  }
  return error.failed.has(GROUP_WRITES.row(order)) ? [[order, error]] : []
}

const balanceItem = z.object({ available: storedAmount, state: z.string() })

/** Funds or a budget that refused a group: what it has, which orders it pays for, and the error of an order that needs more. */
type Pot = {
  readonly available: bigint
  readonly isFor: (order: Order) => boolean
  readonly refuse: (needed: Microcredits) => Error
}

/**
 * Judges by the items that refused the group: budgets of keys, the budget of the tenant, the balance, in this order. A reservation is
 * refused if it could not be paid even alone and with all money that comes back. The others are tried again: first, in their order, as
 * many as the money pays for. Reservations of a suspended tenant are refused like its keys.
 */
function judgeMoney(orders: readonly Order[], error: ConditionsNotMetError, nowMilliseconds: number): Verdict {
  const resolving = orders.filter(({ kind }) => kind === 'resolve')
  const reserving = orders.filter(({ kind }) => kind === 'reserve')
  const balance = error.failed.has(GROUP_WRITES.balance) ? error.oldItems.get(GROUP_WRITES.balance) : undefined
  if (balance !== undefined && balanceItem.parse(balance).state !== 'active') {
    return {
      refused: new Map(reserving.map((order) => [order, refusedKey(order.reservation.keyDigest)])),
      groups: [resolving],
    }
  }
  const pots = [...keyPots(orders, error, nowMilliseconds), ...balancePots(balance, nowMilliseconds)].map((pot) => {
    const returned = resolving.filter(pot.isFor).map(returnedAmount)
    return {
      ...pot,
      left: returned.reduce((sum, back) => sum + back, pot.available),
      most: returned.reduce((sum, back) => (back > 0n ? sum + back : sum), pot.available),
    }
  })
  const refused = new Map<Order, unknown>()
  const first: Order[] = [...resolving]
  const later: Order[] = []
  for (const order of reserving) {
    const needed = order.reservation.amount
    const own = pots.filter(({ isFor }) => isFor(order))
    const short = own.find(({ most }) => needed > most)
    if (short !== undefined) {
      refused.set(order, short.refuse(needed))
    } else if (own.some(({ left }) => needed > left)) {
      later.push(order)
    } else {
      for (const pot of own) {
        pot.left -= needed
      }
      first.push(order)
    }
  }
  return { refused, groups: [first, later] }
}

function keyPots(orders: readonly Order[], { failed, oldItems }: ConditionsNotMetError, now: number): Pot[] {
  const ids = new Set(orders.flatMap(({ reservation }) => reservation.budget?.id ?? []))
  return [...ids].flatMap((id) => {
    const name = GROUP_WRITES.budget(id)
    const item = failed.has(name) ? oldItems.get(name) : undefined
    return item === undefined
      ? []
      : [
          {
            ...budgetPot(readKeyBudget(item), 'api key', now),
            isFor: ({ reservation }: Order) => reservation.budget?.id === id,
          },
        ]
  })
}

function balancePots(balance: Item | undefined, now: number): Pot[] {
  if (balance === undefined) {
    return []
  }
  const { available } = balanceItem.parse(balance)
  const budget = readTenantBudget(balance)
  const funds: Pot = {
    available,
    isFor: () => true,
    refuse: (needed) => new InsufficientQuotaError('request', { needed, available }),
  }
  return [...(budget === undefined ? [] : [budgetPot(budget, 'tenant', now)]), funds]
}

function budgetPot(budget: Budget, of: 'api key' | 'tenant', now: number): Pot {
  const { left, period } = budgetAt(budget, now)
  return {
    available: left,
    isFor: () => true,
    refuse: (needed) => new BudgetExceededError({ of, needed, left, period }),
  }
}

/** Negative for an overdraft. */
function returnedAmount(order: Order): bigint {
  return order.kind === 'resolve' ? order.reservation.amount - billedAmount(order.resolution) : 0n
}

/** For an error that names no order: halves the group until each order that causes the error is alone. */
export function isolate(orders: readonly Order[], error: unknown): Verdict {
  const [only, ...others] = orders
  if (only === undefined || others.length > 0) {
    return { refused: new Map(), groups: halve(orders) }
  }
  const isShort =
    only.kind === 'reserve' && error instanceof ConditionsNotMetError && error.failed.has(GROUP_WRITES.balance)
  return { refused: new Map([[only, isShort ? new InsufficientQuotaError('request') : error]]), groups: [] }
}

/** Resolutions before reservations, so that money that comes back counts; otherwise the earlier half before the later. */
function halve(orders: readonly Order[]): readonly (readonly Order[])[] {
  const resolving = orders.filter(({ kind }) => kind === 'resolve')
  const reserving = orders.filter(({ kind }) => kind === 'reserve')
  if (resolving.length > 0 && reserving.length > 0) {
    return [resolving, reserving]
  }
  const middle = Math.ceil(orders.length / 2)
  return [orders.slice(0, middle), orders.slice(middle)]
}
