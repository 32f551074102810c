import { type Budget, type BudgetPeriod, budgetAt, movingPeriod, periodAt } from '#core/money/budget.ts'
import { type BudgetLimit, formatBudgetLimit } from '#core/money/budget-limit.ts'
import { type Clock, systemClock } from '../../clock.ts'
import { readTenantBudget } from '../accounts/budget-items.ts'
import { readBalance, TenantNotFoundError } from '../accounts/tenant-store.ts'
import { type Actor, type AuditedFields, auditEntry } from '../audit/audit-entry.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Item } from '../table/item-codec.ts'
import type { ItemUpdate, Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { readSnapshot, type Snapshot, spentInPeriod } from './period-spending.ts'
import { beginBudget, changeBudgetAmount, clearBudget } from './tenant-budget-updates.ts'

/** Other commands keep changing the budget. Nothing was written. */
class BudgetChangedError extends Error {
  override readonly name = 'BudgetChangedError'
}

/** Reads and writes while grants move the balance, other commands change the budget, or a period ends. */
const TRIES_MAX = 8

type BudgetChange = {
  readonly tenantId: string
  /** Null ends the budget. */
  readonly limit: BudgetLimit | null
  readonly actor: Actor
  readonly clock?: Pick<Clock, 'nowMilliseconds'>
}

/** The result of a change. `isExact` is false if the tenant settled requests all the time: `spent` may then be a little too high. */
export type ChangedBudget = { readonly isChanged: boolean; readonly isExact: boolean }

/**
 * Sets, changes or ends the budget of a tenant, from its next request on, in one transaction with the entry of the audit log. A new
 * budget begins with what this period's counters say, and so does one that is set to another kind of period, or again to the same limit.
 * @throws TenantNotFoundError. @throws BudgetChangedError if other commands keep changing it.
 */
export async function setTenantBudget(table: Table, change: BudgetChange): Promise<ChangedBudget> {
  const { tenantId, limit, actor, clock = systemClock } = change
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const now = clock.nowMilliseconds()
    const balance = await requireBalance(table, tenantId)
    const stored = readTenantBudget(balance)
    const planned = await planChange(table, { tenantId, stored, limit, now })
    if (planned === undefined) {
      return { isChanged: false, isExact: true }
    }
    const audit = auditEntry({
      actor,
      action: 'tenant budget',
      target: { kind: 'tenant', id: tenantId },
      before: shown(stored && { amount: stored.amount, kind: stored.period.kind }),
      after: shown(limit ?? undefined),
      at: now,
    })
    try {
      await table.transact({ balance: { Update: planned.update }, audit })
    } catch (error) {
      if (error instanceof ConditionsNotMetError) {
        continue
      }
      throw error
    }
    // What was settled since the period ended counts in a period that this transaction did not know of.
    if (
      planned.period === undefined ||
      movingPeriod(planned.period, clock.nowMilliseconds()).id === planned.period.id
    ) {
      return { isChanged: true, isExact: planned.isExact }
    }
  }
  throw new BudgetChangedError(`the budget of tenant ${tenantId} is being changed by other commands: try again`)
}

/** The fields of the audit log. */
function shown(limit: BudgetLimit | undefined): AuditedFields {
  return { budget: limit === undefined ? null : formatBudgetLimit(limit) }
}

async function requireBalance(table: Table, tenantId: string): Promise<Item> {
  const balance = await table.readItem(tableKeys.balance(tenantId))
  if (balance === undefined) {
    throw new TenantNotFoundError(`no tenant ${tenantId}`)
  }
  return balance
}

type Planned = {
  readonly update: ItemUpdate
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

/** Undefined if nothing has to be changed. */
async function planChange(table: Table, wanted: Wanted): Promise<Planned | undefined> {
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
