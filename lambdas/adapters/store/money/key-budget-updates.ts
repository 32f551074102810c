import type { Budget, BudgetLimit, BudgetPeriod } from '#core/budgets.ts'
import type { Microcredits } from '#core/money.ts'
import { putKeyBudget } from '../accounts/budget-items.ts'
import type { TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

/** The budget, recomputed from usage counters and open reservations. */
export type CountedBudget = {
  readonly limit: BudgetLimit
  readonly period: BudgetPeriod
  /** What the counters of the period add up to. */
  readonly spent: Microcredits
  /** What open reservations hold in it. */
  readonly held: Microcredits
  /** Milliseconds. The budget is noted to have changed at this time, as {@link leaveKeyBudget} says. */
  readonly changedAt: number
}

/** Begins a budget that is not in the table. */
export function beginKeyBudget(tenantId: string, id: string, counted: CountedBudget): TableWrite {
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

/**
 * Sets a budget to what was counted while it was as `item`. The item moves in the same transactions as counters and reservations, so
 * the differences between them stay the same, and the write is right whatever is reserved and settled until then.
 */
export function recountKeyBudget(id: string, item: Budget, counted: CountedBudget): TableWrite {
  const { limit, period, spent, held, changedAt } = counted
  return {
    Update: {
      Key: tableKeys.keyBudget(id),
      UpdateExpression: `SET ${[
        'amount = :amount',
        '#period = :kind',
        'periodId = :periodId',
        'spent = spent + :spent',
        'held = held + :held',
        '#left = #left + :left',
        '#free = #free + :free',
        'changedAt = :changedAt',
      ].join(', ')}`,
      ConditionExpression: 'amount = :was AND #period = :wasKind AND periodId = :wasId',
      ExpressionAttributeNames: { '#left': 'left', '#free': 'free', '#period': 'period' },
      ExpressionAttributeValues: {
        ':amount': limit.amount,
        ':kind': period.kind,
        ':periodId': period.id,
        ':spent': spent - item.spent,
        ':held': held - item.held,
        ':left': limit.amount - spent - held - item.left,
        ':free': limit.amount - held - item.free,
        ':changedAt': changedAt,
        ':was': item.amount,
        ':wasKind': item.period.kind,
        ':wasId': item.period.id,
      },
    },
  }
}

/**
 * Notes when a key left the budget. Requests that were open then, and the period of that moment, need not agree with the usage
 * counters of the keys that share it.
 */
export function leaveKeyBudget(id: string, changedAt: number): TableWrite {
  return {
    Update: {
      Key: tableKeys.keyBudget(id),
      UpdateExpression: 'SET changedAt = :changedAt',
      ConditionExpression: 'attribute_exists(PK)',
      ExpressionAttributeValues: { ':changedAt': changedAt },
    },
  }
}
