import * as z from 'zod/mini'
import { type Budget, type BudgetLimit, PERIOD_KINDS, periodAt } from '#core/budgets.ts'
import { ZERO } from '#core/money.ts'
import { storedAmount } from './table/attributes.ts'
import type { Item, TableWrite } from './table/table.ts'
import { BUDGETS_PARTITION, tableKeys } from './table/table-keys.ts'

const kind = z.enum(PERIOD_KINDS)

const keyBudgetItem = z.object({
  amount: storedAmount,
  period: kind,
  periodId: z.string(),
  spent: storedAmount,
  held: storedAmount,
  left: storedAmount,
  free: storedAmount,
  changedAt: z.optional(z.number()),
})

/** The budget of a key, or of keys that share it. */
export type KeyBudget = Budget & {
  /**
   * When it last began to count in the middle of something, was counted anew, or lost a key, in Unix milliseconds. Left out for a budget that
   * began with its key and has all keys that ever shared it: its spending is what their usage counters say.
   */
  readonly changedAt?: number | undefined
}

/** Reads the item of a key's budget. @throws ZodError for an item that this service did not write. */
export function readKeyBudget(item: Item): KeyBudget {
  const { period, periodId, ...amounts } = keyBudgetItem.parse(item)
  return { ...amounts, period: { kind: period, id: periodId } }
}

const balanceItem = z.object({
  held: storedAmount,
  budgetAmount: storedAmount,
  budgetPeriod: kind,
  budgetPeriodId: z.string(),
  budgetSpent: storedAmount,
  budgetLeft: storedAmount,
  budgetFree: storedAmount,
})

/** Reads the budget on a tenant's balance; undefined without one. @throws ZodError for a balance of another form. */
export function readTenantBudget(balance: Item): Budget | undefined {
  if (balance.budgetPeriodId === undefined) {
    return undefined
  }
  const stored = balanceItem.parse(balance)
  return {
    amount: stored.budgetAmount,
    period: { kind: stored.budgetPeriod, id: stored.budgetPeriodId },
    spent: stored.budgetSpent,
    held: stored.held,
    left: stored.budgetLeft,
    free: stored.budgetFree,
  }
}

/** The write that stores the budget of a key; refused if there is one with this id. */
export function putKeyBudget(tenantId: string, id: string, { period, ...attributes }: KeyBudget): TableWrite {
  return {
    Put: {
      Item: {
        ...tableKeys.keyBudget(id),
        tenantId,
        ...attributes,
        period: period.kind,
        periodId: period.id,
        GSI1PK: BUDGETS_PARTITION,
        GSI1SK: id,
      },
      ConditionExpression: 'attribute_not_exists(PK)',
    },
  }
}

/** The attributes of a balance with a budget that begins with the tenant. */
export function newTenantBudget(
  tenantId: string,
  { amount: limit, kind: period }: BudgetLimit,
  nowMilliseconds: number,
) {
  return {
    budgetAmount: limit,
    budgetPeriod: period,
    budgetPeriodId: periodAt(period, nowMilliseconds).id,
    budgetSpent: ZERO,
    budgetLeft: limit,
    budgetFree: limit,
    GSI1PK: BUDGETS_PARTITION,
    GSI1SK: tenantId,
  }
}
