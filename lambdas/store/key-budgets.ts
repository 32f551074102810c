import {
  type Budget,
  type BudgetLimit,
  type BudgetPeriod,
  budgetAt,
  laterPeriodNear,
  movingPeriod,
  periodAt,
} from '#core/budgets.ts'
import { type Microcredits, ZERO } from '#core/money.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { type KeyBudget, putKeyBudget, readKeyBudget } from './budgets.ts'
import type { BudgetOfKey } from './callers.ts'
import { readReservationItem } from './job-ledger/reservation.ts'
import { type ApiKeyListing, listApiKeys } from './keys/api-keys.ts'
import type { PlanKeyBudget, PlannedKeyBudget } from './keys/key-changes.ts'
import { readHoldItem } from './relay-ledger/hold.ts'
import { beginningWith, change, isStill } from './table/expressions.ts'
import { queryItems, readBatches, type Table, type TableWrite, tryTransact } from './table/table.ts'
import { tableKeys } from './table/table-keys.ts'
import { beginningPeriod, readSnapshot, type Snapshot, spentInPeriod } from './usage.ts'

/** What open jobs and requests of a tenant hold in the budget of a key. Reads every reservation of a job that the table still has. */
export async function heldInBudget(
  table: Pick<Table, 'queryPage'>,
  tenantId: string,
  budgetId: string,
): Promise<Microcredits> {
  let held = 0n
  for await (const item of queryItems(table, beginningWith(tableKeys.reservation(tenantId, '')))) {
    const { state, amount, budget } = readReservationItem(item)
    held += state === 'held' && budget?.id === budgetId ? amount : 0n
  }
  for await (const item of queryItems(table, beginningWith(tableKeys.relayHold(tenantId, '')))) {
    held += readHoldItem(item).budgets[budgetId] ?? 0n
  }
  return held as Microcredits
}

/** The budget, recomputed from usage counters and open reservations. */
type CountedBudget = {
  readonly limit: BudgetLimit
  readonly period: BudgetPeriod
  /** What the counters of the period add up to. */
  readonly spent: Microcredits
  /** What open reservations hold in it. */
  readonly held: Microcredits
  /** Milliseconds. The budget is noted to have changed at this time, as {@link leaveKeyBudget} says. */
  readonly changedAt: number
  /** Refuses a recount if anything was settled since: others may already be in another period, or still in the last one. */
  readonly isAtBoundary: boolean
}

/** Begins a budget that is not in the table. */
export function beginKeyBudget(tenantId: string, id: string, counted: Omit<CountedBudget, 'isAtBoundary'>): TableWrite {
  const { limit, period, spent, held, changedAt } = counted
  const { amount } = limit
  const [left, free] = [amount - spent - held, amount - held] as [Microcredits, Microcredits]
  return putKeyBudget(tenantId, id, { amount, period, spent, held, left, free, changedAt })
}

/** A change of the amount alone is right whatever moves at the same time. */
export function changeKeyBudgetAmount(
  id: string,
  { stored, amount }: { readonly stored: Budget; readonly amount: Microcredits },
): TableWrite {
  const more = amount - stored.amount
  const isAsRead = [isStill('amount', stored.amount), isStill('period', stored.period.kind)]
  return {
    Update: change(tableKeys.keyBudget(id), { set: { amount }, add: { left: more, free: more } }, isAsRead),
  }
}

/**
 * Sets a budget to what was counted while it was as `item`. The item moves in the same transactions as counters and reservations, so
 * the differences between them stay the same, and the write is right whatever is reserved and settled until then. Another recount, by
 * another key that shares the budget, would change them: then this one is refused. Near the end of a period, a settlement may count in
 * another one than this write is for.
 */
export function recountKeyBudget(id: string, item: KeyBudget, counted: CountedBudget): TableWrite {
  const { limit, period, spent, held, changedAt, isAtBoundary } = counted
  const { amount } = limit
  const recounted = {
    set: { amount, period: period.kind, periodId: period.id, changedAt: laterThan(item, changedAt) },
    add: {
      spent: spent - item.spent,
      held: held - item.held,
      left: amount - spent - held - item.left,
      free: amount - held - item.free,
    },
  }
  return {
    Update: change(tableKeys.keyBudget(id), recounted, [
      isStill('amount', item.amount),
      isStill('period', item.period.kind),
      isStill('periodId', item.period.id),
      isStill('changedAt', item.changedAt),
      ...(isAtBoundary ? [isStill('spent', item.spent)] : []),
    ]),
  }
}

/** Two changes never have one time, whatever the clocks of their processes say. */
function laterThan({ changedAt = 0 }: KeyBudget, nowMilliseconds: number): number {
  return Math.max(nowMilliseconds, changedAt + 1)
}

/**
 * Notes when a key left the budget. Requests that were open then, and the period of that moment, need not agree with the usage
 * counters of the keys that share it.
 */
export function leaveKeyBudget(id: string, changedAt: number): TableWrite {
  return { Update: change(tableKeys.keyBudget(id), { set: { changedAt } }, ['attribute_exists(PK)']) }
}

/** Reads the budget of a key; undefined if it is not in the table. */
export async function readBudgetOfKey(
  table: Pick<Table, 'readItem'>,
  { id }: BudgetOfKey,
): Promise<KeyBudget | undefined> {
  const item = await table.readItem(tableKeys.keyBudget(id))
  return item === undefined ? undefined : readKeyBudget(item)
}

/** The budgets of these keys, by the ids of the budgets. */
export async function readKeyBudgets(
  table: Pick<Table, 'readItems'>,
  keys: readonly Pick<ApiKeyListing, 'budget'>[],
): Promise<ReadonlyMap<string, Budget>> {
  const ids = [...new Set(keys.flatMap(({ budget }) => (budget === null ? [] : [budget.id])))]
  const budgets = new Map<string, Budget>()
  const itemKeys = ids.map((id) => tableKeys.keyBudget(id))
  for await (const items of readBatches(table, itemKeys)) {
    for (const item of items) {
      budgets.set(String(item.PK).slice(tableKeys.keyBudget('').PK.length), readKeyBudget(item))
    }
  }
  return budgets
}

/**
 * Plans that a key gets this limit, or none. A key without a budget begins one with what its counters of this period say; requests
 * that are open at that moment never count in it. A key with a budget changes it for all keys that share it; the same limit counts
 * again what is spent and held, and a budget that is missing from the table is made anew. Without a limit, the key leaves its budget,
 * which stays for the others and for open requests.
 */
export function planKeyBudget(
  table: Table,
  limit: BudgetLimit | null,
  clock: Pick<Clock, 'nowMilliseconds'> = systemClock,
): PlanKeyBudget {
  return async (key) => {
    const now = clock.nowMilliseconds()
    const stored = key.budget === null ? undefined : await readBudgetOfKey(table, key.budget)
    const before = stored === undefined ? null : { amount: stored.amount, kind: stored.period.kind }
    const id = key.budget?.id ?? key.keyId
    if (limit === null) {
      return { budget: null, write: stored && leaveKeyBudget(id, now), before, after: null }
    }
    if (stored === undefined && key.budget !== null) {
      // Without room, as if all of it were held, while it is counted: so what settles meanwhile moves it, and the recount is exact.
      const closed = { limit, period: periodAt(limit.kind, now), spent: ZERO, held: limit.amount, changedAt: now }
      await tryTransact(table, { keyBudget: beginKeyBudget(key.tenantId, id, closed) })
    }
    const { write, recount } = await planWrite(table, { key, id, limit, stored, now })
    return { budget: { id, kind: limit.kind }, write, before, after: limit, recount } satisfies PlannedKeyBudget
  }
}

type Wanted = {
  readonly key: ApiKeyListing
  readonly id: string
  readonly limit: BudgetLimit
  /** The budget in which the key counts now. */
  readonly stored: Budget | undefined
  readonly now: number
}

async function planWrite(table: Table, wanted: Wanted): Promise<Pick<PlannedKeyBudget, 'write' | 'recount'>> {
  const { key, id, limit, stored, now } = wanted
  const isSameKind = stored?.period.kind === limit.kind
  if (stored !== undefined && isSameKind && stored.amount !== limit.amount) {
    return { write: changeKeyBudgetAmount(id, { stored, amount: limit.amount }) }
  }
  const { item, ...counted } = await count(table, wanted)
  if (item === undefined) {
    return { write: beginKeyBudget(key.tenantId, id, counted) }
  }
  const before = budgetAt(item, now)
  return isSameKind && agrees(before, counted)
    ? { write: undefined }
    : { write: recountKeyBudget(id, item, counted), recount: { before: stored && before, after: counted } }
}

/** What the counters and the open reservations say of a budget, and its item at that moment. */
async function count(table: Table, wanted: Wanted): Promise<CountedBudget & { readonly item: KeyBudget | undefined }> {
  const { key, id, limit, stored, now } = wanted
  const { tenantId } = key
  const keyIds = await keysOf(table, wanted)
  const readItem = () => readBudgetOfKey(table, { id, kind: limit.kind })
  const holding = await readSnapshot({
    read: readItem,
    count: () => heldInBudget(table, tenantId, id),
    sameAt: isUnmoved,
  })
  const spending = await readSnapshot({
    read: async () => {
      const item = await readItem()
      const current = item?.period.kind === limit.kind ? movingPeriod(item.period, now) : periodAt(limit.kind, now)
      return {
        item,
        period: await beginningPeriod(table, tenantId, { current, now, keyIds }),
        everSpent: (await table.readItem(tableKeys.balance(tenantId)))?.spent,
      }
    },
    count: ({ period }) => spentInPeriod(table, tenantId, { period, keyIds }),
    sameAt: (one, other) => one.everSpent === other.everSpent && one.period.id === other.period.id,
  })
  const { item, period } = spending.read
  const isRecount = item !== undefined && stored?.period.kind === limit.kind
  return {
    item,
    limit,
    period,
    // A sum that moved while it was read says nothing about a budget that counts already.
    spent: isRecount && !spending.isExact ? budgetAt(item, now).spent : spending.sum,
    held: item === undefined ? holding.sum : heldNow(item, holding),
    changedAt: now,
    isAtBoundary: laterPeriodNear(limit.kind, now) !== undefined,
  }
}

/**
 * The difference between a budget and its open reservations stays the same, because both move in the same transactions. A recount since
 * the reservations were read has set it already.
 */
function heldNow(
  { held, changedAt }: KeyBudget,
  { read, sum, isExact }: Snapshot<KeyBudget | undefined>,
): Microcredits {
  return (isExact && read !== undefined && read.changedAt === changedAt ? held + sum - read.held : held) as Microcredits
}

function isUnmoved(one: KeyBudget | undefined, other: KeyBudget | undefined): boolean {
  return (
    one?.changedAt === other?.changedAt &&
    one?.held === other?.held &&
    one?.left === other?.left &&
    one?.spent === other?.spent &&
    one?.period.id === other?.period.id
  )
}

function agrees({ amount, period, spent, held, left, free }: Budget, counted: CountedBudget): boolean {
  const isCounted = spent === counted.spent && held === counted.held && period.id === counted.period.id
  return isCounted && left === amount - spent - held && free === amount - held
}

/** Keys whose counters the budget has to begin with: the key, and others that share the budget. */
async function keysOf(table: Table, { key, id }: Wanted): Promise<ReadonlySet<string>> {
  const sharing = (await listApiKeys(table)).filter(({ budget }) => budget?.id === id)
  return new Set([key.keyId, ...sharing.map(({ keyId }) => keyId)])
}
