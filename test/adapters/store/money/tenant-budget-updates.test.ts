import { describe, expect, it } from 'vitest'
import { beginBudget, changeBudgetAmount, clearBudget } from '#adapters/store/money/tenant-budget-updates.ts'
import type { Budget } from '#core/budgets.ts'
import { microcredits } from '#core/money.ts'

const STORED: Budget = {
  amount: microcredits(100),
  period: { kind: 'day', id: '2026-11-30' },
  spent: microcredits(30),
  held: microcredits(20),
  left: microcredits(50),
  free: microcredits(80),
}
const READ = { available: 500, held: 20, spent: 480, granted: 1_000, state: 'active', openJobs: 0 }
const PERIOD = { kind: 'month', id: '2026-11' } as const
const BEGINNING = {
  limit: { amount: microcredits(200), kind: 'month' },
  period: PERIOD,
  snapshot: { read: READ, sum: microcredits(80), isExact: true },
} as const

describe('beginBudget', () => {
  it('follows from the balance at the moment of the write, by what was spent before the period', () => {
    const { UpdateExpression, ExpressionAttributeValues } = beginBudget('acme', { ...BEGINNING, stored: undefined })
    expect(UpdateExpression).toContain(
      'budgetSpent = spent - :before, budgetLeft = available + :beyond, budgetFree = :amount - held',
    )
    // 480 were spent ever, 80 of them in the period: 500 + (200 + 400 - 1000) = 200 - 80 - 20.
    expect(ExpressionAttributeValues).toMatchObject({ ':before': 400n, ':beyond': -400n, ':granted': 1_000n })
  })

  it('is refused after a grant, and where a budget was set meanwhile', () => {
    expect(beginBudget('acme', { ...BEGINNING, stored: undefined }).ConditionExpression).toBe(
      'granted = :granted AND attribute_exists(PK) AND attribute_not_exists(budgetPeriodId)',
    )
  })

  it('is refused where the budget is no longer the one that was read, or has begun another period', () => {
    const { ConditionExpression, ExpressionAttributeValues } = beginBudget('acme', { ...BEGINNING, stored: STORED })
    expect(ConditionExpression).toContain('budgetAmount = :wasAmount AND budgetPeriod = :wasKind')
    expect(ConditionExpression).toContain('budgetPeriodId = :wasPeriod')
    expect(ExpressionAttributeValues).toMatchObject({
      ':wasAmount': 100n,
      ':wasKind': 'day',
      ':wasPeriod': '2026-11-30',
    })
  })
})

describe('changeBudgetAmount', () => {
  it('moves what is left and what is free by the difference', () => {
    expect(changeBudgetAmount('acme', { stored: STORED, amount: microcredits(40) })).toMatchObject({
      UpdateExpression: 'SET budgetAmount = :amount, budgetLeft = budgetLeft + :more, budgetFree = budgetFree + :more',
      ExpressionAttributeValues: { ':amount': 40n, ':more': -60n },
    })
  })
})

describe('clearBudget', () => {
  it('leaves the balance in the index', () => {
    expect(clearBudget('acme', STORED).UpdateExpression).toBe(
      'REMOVE budgetAmount, budgetPeriod, budgetPeriodId, budgetSpent, budgetLeft, budgetFree',
    )
  })
})
