import { type Budget, type BudgetPeriod, movingPeriod, periodAt } from '#core/money/budget.ts'
import type { BudgetLimit } from '#core/money/budget-limit.ts'
import { type Microcredits, ZERO } from '#core/money/money.ts'
import { type Clock, systemClock } from '../../clock.ts'
import { type ApiKeyListing, listApiKeys } from '../accounts/api-key-listing.ts'
import type { BudgetOfKey } from '../accounts/api-key-record.ts'
import { putKeyBudget, readKeyBudget } from '../accounts/budget-items.ts'
import type { PlanKeyBudget, PlannedKeyBudget } from '../accounts/key-settings.ts'
import type { Table, TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { readSnapshot, spentInPeriod } from './period-spending.ts'

/** Reads the budget of a key; undefined if it is not in the table. */
export async function readBudgetOfKey(
  table: Pick<Table, 'readItem'>,
  { id }: BudgetOfKey,
): Promise<Budget | undefined> {
  const item = await table.readItem(tableKeys.keyBudget(id))
  return item === undefined ? undefined : readKeyBudget(item)
}

/** Keys in one request to the table. */
const READ_MAX = 100

/** The budgets of these keys, by the ids of the budgets. */
export async function readKeyBudgets(
  table: Pick<Table, 'readItems'>,
  keys: readonly Pick<ApiKeyListing, 'budget'>[],
): Promise<ReadonlyMap<string, Budget>> {
  const ids = [...new Set(keys.flatMap(({ budget }) => (budget === null ? [] : [budget.id])))]
  const budgets = new Map<string, Budget>()
  for (let first = 0; first < ids.length; first += READ_MAX) {
    const read = ids.slice(first, first + READ_MAX)
    const items = await table.readItems(read.map(tableKeys.keyBudget))
    for (const [index, item] of items.entries()) {
      const id = read[index]
      if (id !== undefined && item !== undefined) {
        budgets.set(id, readKeyBudget(item))
      }
    }
  }
  return budgets
}

/**
 * Plans that a key gets this limit, or none. A key without a budget begins one with what its counters of this period say; requests
 * that are open at that moment never count in it. A key with a budget changes it for all keys that share it. Without a limit, the key leaves
 * its budget, which stays for the others and for open requests.
 */
export function planKeyBudget(
  table: Table,
  limit: BudgetLimit | null,
  clock: Pick<Clock, 'nowMilliseconds'> = systemClock,
): PlanKeyBudget {
  return async (key) => {
    const stored = key.budget === null ? undefined : await readBudgetOfKey(table, key.budget)
    const before = stored === undefined ? null : { amount: stored.amount, kind: stored.period.kind }
    if (limit === null) {
      return { budget: null, write: undefined, before, after: null }
    }
    const id = key.budget?.id ?? key.keyId
    const write = await planWrite(table, { key, id, limit, stored, now: clock.nowMilliseconds() })
    return { budget: { id, kind: limit.kind }, write, before, after: limit } satisfies PlannedKeyBudget
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

async function planWrite(table: Table, wanted: Wanted): Promise<TableWrite | undefined> {
  const { key, id, limit, stored, now } = wanted
  if (stored !== undefined && stored.period.kind === limit.kind) {
    return stored.amount === limit.amount ? undefined : changeAmount(id, { stored, amount: limit.amount })
  }
  const keyIds = await keysOf(table, wanted)
  const read = async () => ({
    item: await readBudgetOfKey(table, { id, kind: limit.kind }),
    everSpent: (await table.readItem(tableKeys.balance(key.tenantId)))?.spent,
  })
  const snapshot = await readSnapshot({
    read,
    count: ({ item }) => spentInPeriod(table, key.tenantId, { period: periodOf(item, limit, now), keyIds }),
    sameAt: (one, other) => one.everSpent === other.everSpent && one.item?.period.id === other.item?.period.id,
  })
  const { item } = snapshot.read
  const period = periodOf(item, limit, now)
  return item === undefined
    ? putKeyBudget(key.tenantId, id, begin(limit, period, snapshot.spent))
    : beginAgain(id, { item, limit, period, spent: snapshot.spent })
}

/** Keys whose counters the budget has to begin with: the key, and others that share the budget. */
async function keysOf(table: Table, { key, id }: Wanted): Promise<ReadonlySet<string>> {
  const sharing = (await listApiKeys(table)).filter(({ budget }) => budget?.id === id)
  return new Set([key.keyId, ...sharing.map(({ keyId }) => keyId)])
}

function periodOf(item: Budget | undefined, { kind }: BudgetLimit, now: number): BudgetPeriod {
  return item?.period.kind === kind ? movingPeriod(item.period, now) : periodAt(kind, now)
}

function begin({ amount }: BudgetLimit, period: BudgetPeriod, spent: Microcredits): Budget {
  return { amount, period, spent, held: ZERO, left: (amount - spent) as Microcredits, free: amount }
}

/** A change of the amount alone is right whatever moves at the same time. */
function changeAmount(
  id: string,
  { stored, amount }: { readonly stored: Budget; readonly amount: Microcredits },
): TableWrite {
  return {
    Update: {
      Key: tableKeys.keyBudget(id),
      UpdateExpression: 'SET amount = :amount, #left = #left + :more, #free = #free + :more',
      ConditionExpression: 'amount = :was AND #period = :kind',
      ExpressionAttributeNames: { '#left': 'left', '#free': 'free', '#period': 'period' },
      ExpressionAttributeValues: {
        ':amount': amount,
        ':more': amount - stored.amount,
        ':was': stored.amount,
        ':kind': stored.period.kind,
      },
    },
  }
}

type Beginning = {
  readonly item: Budget
  readonly limit: BudgetLimit
  readonly period: BudgetPeriod
  /** As counted for the period. */
  readonly spent: Microcredits
}

/**
 * Begins another period in an item that exists. The item and the counters move in the same transactions, so the difference between them
 * stays the same, and the write is right whatever is reserved and settled until then.
 */
function beginAgain(id: string, { item, limit, period, spent }: Beginning): TableWrite {
  const moreSpent = spent - item.spent
  const more = limit.amount - item.amount
  return {
    Update: {
      Key: tableKeys.keyBudget(id),
      UpdateExpression: `SET ${[
        'amount = :amount',
        '#period = :kind',
        'periodId = :periodId',
        'spent = spent + :spent',
        '#left = #left + :left',
        '#free = #free + :free',
      ].join(', ')}`,
      ConditionExpression: 'amount = :was AND #period = :wasKind AND periodId = :wasId',
      ExpressionAttributeNames: { '#left': 'left', '#free': 'free', '#period': 'period' },
      ExpressionAttributeValues: {
        ':amount': limit.amount,
        ':kind': period.kind,
        ':periodId': period.id,
        ':spent': moreSpent,
        ':left': more - moreSpent,
        ':free': more,
        ':was': item.amount,
        ':wasKind': item.period.kind,
        ':wasId': item.period.id,
      },
    },
  }
}
