import * as z from 'zod/mini'
import { InsufficientQuotaError, InvalidApiKeyError } from '#core/errors.ts'
import { microcredits } from '#core/money/money.ts'
import { decodeItem } from '../table/attribute-value.ts'
import { ConditionsNotMetError } from '../table/cancelled-transaction.ts'
import { BALANCE_INDEX, type GroupTransaction, type Order } from './group-transaction.ts'
import { billedAmount } from './relay-reservation.ts'

/** What a refused transaction means for its orders. */
export type Verdict = {
  /** Refused for good, each for a reason of its own. */
  readonly refused: ReadonlyMap<Order, unknown>
  /** What is to be tried again, group after group. */
  readonly groups: readonly (readonly Order[])[]
}

/**
 * Finds the guilty of a group whose conditions failed, so that nobody suffers for another: keys are judged before funds.
 * What is left is tried again in smaller groups, so that this comes to an end.
 */
export function judgeGroup(
  orders: readonly Order[],
  transaction: GroupTransaction,
  error: ConditionsNotMetError,
): Verdict {
  const guilty = new Map(orders.flatMap((order) => judgeItems(order, transaction, error)))
  const rest = orders.filter((order) => !guilty.has(order))
  const funds = error.failed[BALANCE_INDEX]
    ? judgeFunds(rest, error.stored[BALANCE_INDEX])
    : { refused: [], groups: [rest] }
  const refused = new Map<Order, unknown>([...guilty, ...funds.refused])
  const groups = funds.groups.filter(({ length }) => length > 0)
  return refused.size > 0 || groups.length > 1 ? { refused, groups } : isolate(orders, error)
}

type Refusal = readonly [Order, Error]

/** A key that may not spend, or an item of the order's own that stood in its way. */
function judgeItems(
  order: Order,
  { own, keyChecks }: GroupTransaction,
  error: ConditionsNotMetError,
): readonly Refusal[] {
  const keyCheck = order.kind === 'reserve' ? keyChecks.get(order.reservation.keyDigest) : undefined
  if (keyCheck !== undefined && error.failed[keyCheck]) {
    return [[order, new InvalidApiKeyError()]]
  }
  return own.get(order)?.some((index) => error.failed[index]) ? [[order, error]] : []
}

const amount = z.pipe(z.union([z.number(), z.bigint()]), z.transform(microcredits))
const balanceItem = z.object({ available: amount, state: z.string() })

/**
 * Judges by the balance as it was when it refused the group. Whoever could not have paid alone, with everything that comes
 * back, is refused; the others go again, first those whom the funds suffice for in their order. Those of a suspended tenant
 * are refused like its keys.
 */
function judgeFunds(
  orders: readonly Order[],
  stored: unknown,
): { readonly refused: readonly Refusal[]; readonly groups: readonly (readonly Order[])[] } {
  if (stored === undefined) {
    return { refused: [], groups: [orders] }
  }
  const { available, state } = balanceItem.parse(decodeItem(stored))
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

/** For an error that names nobody: the group is halved until the guilty stand alone. */
export function isolate(orders: readonly Order[], error: unknown): Verdict {
  const [only, ...others] = orders
  if (only === undefined || others.length > 0) {
    return { refused: new Map(), groups: halve(orders) }
  }
  const isShort = only.kind === 'reserve' && error instanceof ConditionsNotMetError && error.failed[BALANCE_INDEX]
  return { refused: new Map([[only, isShort ? new InsufficientQuotaError('request') : error]]), groups: [] }
}

/** Resolutions before reservations, so that money that comes back counts; else the earlier before the later. */
function halve(orders: readonly Order[]): readonly (readonly Order[])[] {
  const resolving = orders.filter(({ kind }) => kind === 'resolve')
  const reserving = orders.filter(({ kind }) => kind === 'reserve')
  if (resolving.length > 0 && reserving.length > 0) {
    return [resolving, reserving]
  }
  const middle = Math.ceil(orders.length / 2)
  return [orders.slice(0, middle), orders.slice(middle)]
}
