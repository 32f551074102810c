import { parseCredits } from '#core/money.ts'
import type { Table } from '#store/table/table.ts'
import { BUDGETS_PARTITION, tableKeys } from '#store/table/table-keys.ts'

/** Everything that a generator yields. */
export async function collect<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const collected: Value[] = []
  for await (const value of values) {
    collected.push(value)
  }
  return collected
}

type BudgetItem = {
  readonly amount?: string
  readonly spent: string
  readonly period?: 'day' | 'month' | 'total'
  readonly periodId: string
}

function amounts({ amount = '10', spent, period = 'day', periodId }: BudgetItem) {
  const [all, used] = [parseCredits(amount), parseCredits(spent)]
  return { amount: all, period, periodId, spent: used, held: 0, left: all - used, free: all }
}

/** Writes the budget of a key as settlements would have left it. */
export async function putKeyBudget(
  table: Table,
  tenantId: string,
  budgetId: string,
  budget: BudgetItem,
): Promise<void> {
  const inIndex = { GSI1PK: BUDGETS_PARTITION, GSI1SK: budgetId }
  const Item = { ...tableKeys.keyBudget(budgetId), tenantId, ...amounts(budget), ...inIndex }
  await table.transact({ budget: { Put: { Item } } })
}

/** Gives the balance of a tenant a budget that settlements have moved, or a low mark, or both. */
export async function watchBalance(
  table: Table,
  tenantId: string,
  {
    budget,
    lowBalance,
    available,
    held,
  }: { budget?: BudgetItem; lowBalance?: string; available?: string; held?: string },
): Promise<void> {
  const { amount, period, periodId, spent, left, free } = amounts(budget ?? { spent: '0', periodId: 'total' })
  const values = {
    GSI1PK: BUDGETS_PARTITION,
    GSI1SK: tenantId,
    ...(available === undefined ? {} : { available: parseCredits(available) }),
    ...(held === undefined ? {} : { held: parseCredits(held) }),
    ...(lowBalance === undefined ? {} : { lowBalance: parseCredits(lowBalance) }),
    ...(budget === undefined
      ? {}
      : {
          budgetAmount: amount,
          budgetPeriod: period,
          budgetPeriodId: periodId,
          budgetSpent: spent,
          budgetLeft: left,
          budgetFree: free,
        }),
  }
  await table.updateItem({
    Key: tableKeys.balance(tenantId),
    UpdateExpression: `SET ${Object.keys(values)
      .map((name) => `${name} = :${name}`)
      .join(', ')}`,
    ExpressionAttributeValues: Object.fromEntries(Object.entries(values).map(([name, value]) => [`:${name}`, value])),
  })
}
