import * as z from 'zod/mini'
import { InsufficientQuotaError, InvalidApiKeyError } from '#core/errors.ts'
import { microcredits } from '#core/money/money.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Item } from '../table/item-codec.ts'
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
 * Finds the orders for which the conditions of a group failed, so that none is refused for another: keys are judged before funds.
 * The others are tried again in smaller groups, so that this comes to an end.
 */
export function judgeGroup(orders: readonly Order[], error: ConditionsNotMetError): Verdict {
  const guilty = new Map(orders.flatMap((order) => judgeItems(order, error)))
  const rest = orders.filter((order) => !guilty.has(order))
  const funds = error.failed.has(GROUP_WRITES.balance)
    ? judgeFunds(rest, error.oldItems.get(GROUP_WRITES.balance))
    : { refused: [], groups: [rest] }
  const refused = new Map<Order, unknown>([...guilty, ...funds.refused])
  const groups = funds.groups.filter(({ length }) => length > 0)
  return refused.size > 0 || groups.length > 1 ? { refused, groups } : isolate(orders, error)
}

type Refusal = readonly [Order, Error]

/** Refuses an order whose key may not spend, or whose request has a row in the ledger. */
function judgeItems(order: Order, error: ConditionsNotMetError): readonly Refusal[] {
  if (order.kind === 'reserve' && error.failed.has(GROUP_WRITES.key(order.reservation))) {
    return [[order, new InvalidApiKeyError()]]
  }
  return error.failed.has(GROUP_WRITES.row(order)) ? [[order, error]] : []
}

const amount = z.pipe(z.union([z.number(), z.bigint()]), z.transform(microcredits))
const balanceItem = z.object({ available: amount, state: z.string() })

/**
 * Judges by the balance that refused the group. A reservation that could not have been paid alone, with all money that comes back,
 * is refused; the others go again, first those that the funds cover in their order. Reservations of a suspended tenant are
 * refused like its keys.
 */
function judgeFunds(
  orders: readonly Order[],
  balance: Item | undefined,
): { readonly refused: readonly Refusal[]; readonly groups: readonly (readonly Order[])[] } {
  if (balance === undefined) {
    return { refused: [], groups: [orders] }
  }
  const { available, state } = balanceItem.parse(balance)
  const resolving = orders.filter(({ kind }) => kind === 'resolve')
  const reserving = orders.filter(({ kind }) => kind === 'reserve')
  if (state !== 'active') {
    return { refused: reserving.map((order) => [order, new InvalidApiKeyError()]), groups: [resolving] }
  }
  const returned = resolving.map(returnedAmount)
  const fundsMax = returned.reduce((sum, back) => (back > 0n ? sum + back : sum), available + 0n)
  let funds = returned.reduce((sum, back) => sum + back, available + 0n)
  const refused: Refusal[] = []
  const first: Order[] = [...resolving]
  const later: Order[] = []
  for (const order of reserving) {
    const locked = order.reservation.amount
    if (locked > fundsMax) {
      refused.push([order, new InsufficientQuotaError('request', { needed: locked, available })])
    } else if (locked > funds) {
      later.push(order)
    } else {
      funds -= locked
      first.push(order)
    }
  }
  return { refused, groups: [first, later] }
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
