import { type Budget, type BudgetLimit, type BudgetPeriod, budgetAt, movingPeriod, periodAt } from '#core/budgets.ts'
import { readBalance } from '../accounts/tenant-store.ts'
import { StoreRefusal } from '../store-refusal.ts'
import type { Item } from '../table/item-codec.ts'
import type { ItemUpdate, Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { readSnapshot, type Snapshot, spentInPeriod } from './period-spending.ts'
import { beginBudget, changeBudgetAmount, clearBudget } from './tenant-budget-updates.ts'

/** A change of the budget of a tenant: the write of the balance. */
export type PlannedTenantBudget = {
  readonly update: ItemUpdate
  /** False if the tenant settled requests all the time: `spent` may then be a little too high. */
  readonly isExact: boolean
  /** Undefined if the change does not depend on a period. */
  readonly period: BudgetPeriod | undefined
}

type Wanted = {
  readonly tenantId: string
  readonly stored: Budget | undefined
  readonly limit: BudgetLimit | null
  readonly now: number
}

/**
 * Plans that a tenant gets this budget, or none. Undefined if nothing has to be changed.
 * @throws StoreRefusal `not_found`.
 */
export async function planTenantBudget(table: Table, wanted: Wanted): Promise<PlannedTenantBudget | undefined> {
  const { tenantId, stored, limit, now } = wanted
  if (limit === null) {
    return stored && { update: clearBudget(tenantId, stored), isExact: true, period: undefined }
  }
  if (stored !== undefined && stored.period.kind === limit.kind && stored.amount !== limit.amount) {
    return { update: changeBudgetAmount(tenantId, { stored, amount: limit.amount }), isExact: true, period: undefined }
  }
  const isSameKind = stored?.period.kind === limit.kind
  const period = stored !== undefined && isSameKind ? movingPeriod(stored.period, now) : periodAt(limit.kind, now)
  const snapshot = await readSnapshot({
    read: () => requireBalance(table, tenantId),
    count: () => spentInPeriod(table, tenantId, { period }),
    sameAt: (before, after) => before.spent === after.spent,
  })
  const counted = beginBudget(tenantId, { limit, period, snapshot, stored })
  const isRight = stored !== undefined && isSameKind && (!snapshot.isExact || counts(snapshot, budgetAt(stored, now)))
  return isRight ? undefined : { update: counted, isExact: snapshot.isExact, period }
}

/** Whether a budget is what a new one with its limit would be. */
function counts({ read, sum: spent }: Snapshot<Item>, budget: Budget): boolean {
  const { held } = readBalance(read).balance
  const [left, free] = [budget.amount - spent - held, budget.amount - held]
  return budget.spent === spent && budget.left === left && budget.free === free
}

async function requireBalance(table: Table, tenantId: string): Promise<Item> {
  const balance = await table.readItem(tableKeys.balance(tenantId))
  if (balance === undefined) {
    throw new StoreRefusal('not_found', `no tenant ${tenantId}`)
  }
  return balance
}
