import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { type Budget, type PeriodKind, periodAt } from '#core/budgets.ts'
import { formatCredits, parseCredits } from '#core/money.ts'
import { readKeyBudget, readTenantBudget } from '#store/budgets.ts'
import type { Table } from '#store/table/table.ts'
import { BUDGETS_PARTITION, tableKeys } from '#store/table/table-keys.ts'
import type { TableWithClient } from './test-table.ts'

type NewBudget = {
  readonly credits: string
  /** Nothing when left out. */
  readonly spent?: string
  readonly kind: PeriodKind
  /** The budget begins in the period of this time. */
  readonly atMilliseconds: number
}

/** Stores the budget of a key, in which nothing is held. */
export async function storeKeyBudget(
  table: TableWithClient,
  id: string,
  { credits, spent: spentCredits = '0', kind, atMilliseconds }: NewBudget,
): Promise<{ readonly id: string; readonly kind: PeriodKind }> {
  const [amount, spent] = [parseCredits(credits), parseCredits(spentCredits)]
  const { id: periodId } = periodAt(kind, atMilliseconds)
  const Item = {
    ...tableKeys.keyBudget(id),
    amount,
    period: kind,
    periodId,
    spent,
    held: 0,
    left: amount - spent,
    free: amount,
  }
  await table.client.send(new PutCommand({ TableName: table.name, Item }))
  return { id, kind }
}

/** Stores the budget of a tenant that has nothing reserved. */
export async function storeTenantBudget(
  table: TableWithClient,
  tenantId: string,
  { credits, spent: spentCredits = '0', kind, atMilliseconds }: NewBudget,
): Promise<void> {
  const [amount, spent] = [parseCredits(credits), parseCredits(spentCredits)]
  await table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key: tableKeys.balance(tenantId),
      UpdateExpression:
        'SET budgetAmount = :amount, budgetPeriod = :kind, budgetPeriodId = :id, budgetSpent = :spent, budgetLeft = :left, budgetFree = :amount',
      ExpressionAttributeValues: {
        ':amount': amount,
        ':kind': kind,
        ':id': periodAt(kind, atMilliseconds).id,
        ':spent': spent,
        ':left': amount - spent,
      },
    }),
  )
}

/** Ends the budget of a tenant, as an operator does. */
export async function clearTenantBudget(table: TableWithClient, tenantId: string): Promise<void> {
  const names = ['Amount', 'Period', 'PeriodId', 'Spent', 'Left', 'Free'].map((name) => `budget${name}`)
  await table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key: tableKeys.balance(tenantId),
      UpdateExpression: `REMOVE ${names.join(', ')}`,
    }),
  )
}

/** The period of a budget, and its spent, held, left and free credits; undefined without one. */
function shown(budget: Budget | undefined): readonly string[] | undefined {
  return budget && [budget.period.id, ...[budget.spent, budget.held, budget.left, budget.free].map(formatCredits)]
}

/** The budget of a key: period, spent, held, left, free. */
export async function keyBudgetOf(table: TableWithClient, id: string) {
  const item = await table.readItem(tableKeys.keyBudget(id))
  return shown(item && readKeyBudget(item))
}

/** The budget of a tenant: period, spent, held, left, free. */
export async function tenantBudgetOf(table: TableWithClient, tenantId: string) {
  const balance = await table.readItem(tableKeys.balance(tenantId))
  return shown(balance && readTenantBudget(balance))
}

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
