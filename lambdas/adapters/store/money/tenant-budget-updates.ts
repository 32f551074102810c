import type { Budget, BudgetLimit, BudgetPeriod } from '#core/budgets.ts'
import type { Microcredits } from '#core/money.ts'
import { readBalance } from '../accounts/tenant-store.ts'
import type { Item } from '../table/item-codec.ts'
import type { ItemUpdate } from '../table/table.ts'
import { BUDGETS_PARTITION, tableKeys } from '../table/table-keys.ts'
import type { Snapshot } from './period-spending.ts'

const NAMES = ['budgetAmount', 'budgetPeriod', 'budgetPeriodId', 'budgetSpent', 'budgetLeft', 'budgetFree'] as const

/** The budget is still the one that was read. */
function isAsRead(stored: Budget | undefined): { readonly condition: string; readonly values: Item } {
  return stored === undefined
    ? { condition: 'attribute_exists(PK) AND attribute_not_exists(budgetPeriodId)', values: {} }
    : {
        condition: 'budgetAmount = :wasAmount AND budgetPeriod = :wasKind',
        values: { ':wasAmount': stored.amount, ':wasKind': stored.period.kind },
      }
}

/** Ends a budget that is still the one that was read. The balance stays in the index, where a low balance may be watched. */
export function clearBudget(tenantId: string, stored: Budget): ItemUpdate {
  const { condition, values } = isAsRead(stored)
  return {
    Key: tableKeys.balance(tenantId),
    UpdateExpression: `REMOVE ${NAMES.join(', ')}`,
    ConditionExpression: condition,
    ExpressionAttributeValues: values,
  }
}

/** Changes the amount of a budget that is still the one that was read. That is right whatever moves at the same time. */
export function changeBudgetAmount(
  tenantId: string,
  { stored, amount }: { readonly stored: Budget; readonly amount: Microcredits },
): ItemUpdate {
  const { condition, values } = isAsRead(stored)
  return {
    Key: tableKeys.balance(tenantId),
    UpdateExpression: 'SET budgetAmount = :amount, budgetLeft = budgetLeft + :more, budgetFree = budgetFree + :more',
    ConditionExpression: condition,
    ExpressionAttributeValues: { ...values, ':amount': amount, ':more': amount - stored.amount },
  }
}

/** A budget that begins in the middle of a period. */
type Beginning = {
  readonly limit: BudgetLimit
  readonly period: BudgetPeriod
  readonly snapshot: Snapshot<Item>
  readonly stored: Budget | undefined
}

/**
 * Begins a budget in the middle of a period. What the tenant had spent before the period is known from the snapshot and does not change,
 * so the budget follows from the balance at the moment of the write, whatever is reserved and settled until then. Since available + held +
 * spent = granted, what is left is available plus an amount that only a grant would change.
 */
export function beginBudget(tenantId: string, { limit, period, snapshot, stored }: Beginning): ItemUpdate {
  const { spent: everSpent, granted } = readBalance(snapshot.read).balance
  const before = everSpent - snapshot.sum
  const { condition, values } = isAsRead(stored)
  const isInSamePeriod = 'budgetPeriodId = :wasPeriod'
  return {
    Key: tableKeys.balance(tenantId),
    UpdateExpression: `SET ${[
      'budgetAmount = :amount',
      'budgetPeriod = :kind',
      'budgetPeriodId = :period',
      'budgetSpent = spent - :before',
      'budgetLeft = available + :beyond',
      'budgetFree = :amount - held',
      'GSI1PK = :budgets',
      'GSI1SK = :tenant',
    ].join(', ')}`,
    ConditionExpression: ['granted = :granted', condition, ...(stored === undefined ? [] : [isInSamePeriod])].join(
      ' AND ',
    ),
    ExpressionAttributeValues: {
      ...values,
      ...(stored === undefined ? {} : { ':wasPeriod': stored.period.id }),
      ':amount': limit.amount,
      ':kind': limit.kind,
      ':period': period.id,
      ':before': before,
      ':beyond': limit.amount + before - granted,
      ':granted': granted,
      ':budgets': BUDGETS_PARTITION,
      ':tenant': tenantId,
    },
  }
}
