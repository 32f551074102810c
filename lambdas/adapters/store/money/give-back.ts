import type { MoneyMove } from '#core/budgets.ts'
import { readKeyBudget, readTenantBudget } from '../accounts/budget-items.ts'
import type { Table, TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { moveKeyBudget, moveTenantBudget } from './budget-writes.ts'

type Returned = { readonly tenantId: string; readonly amount: bigint; readonly nowMilliseconds: number }

/**
 * The write that moves a released amount from `held` to `available`, in the tenant's balance and in its budget as they are now. Refused
 * if the budget begins another period, or is set or cleared, before it is written.
 */
export async function giveBack(table: Table, { tenantId, amount, nowMilliseconds }: Returned): Promise<TableWrite> {
  const balance = await table.readItem(tableKeys.balance(tenantId))
  const known = balance === undefined ? undefined : readTenantBudget(balance)?.period
  const budget = moveTenantBudget({ move: releaseOf(amount), known, nowMilliseconds })
  return {
    Update: {
      Key: tableKeys.balance(tenantId),
      UpdateExpression: `SET available = available + :amount, held = held - :amount${budget.set}`,
      ConditionExpression: ['held >= :amount', budget.condition].join(' AND '),
      ExpressionAttributeValues: { ...budget.values, ':amount': amount },
    },
  }
}

/** The same for the budget of a key; undefined for a budget that is gone from the table. */
export async function giveBackToKey(
  table: Table,
  budgetId: string,
  { amount, nowMilliseconds }: Omit<Returned, 'tenantId'>,
): Promise<TableWrite | undefined> {
  const item = await table.readItem(tableKeys.keyBudget(budgetId))
  return item === undefined
    ? undefined
    : moveKeyBudget(budgetId, { move: releaseOf(amount), known: readKeyBudget(item).period, nowMilliseconds })
}

function releaseOf(closed: bigint): MoneyMove {
  return { locked: 0n, closed, billed: 0n }
}
