import { describe, expect, it } from 'vitest'
import { putKeyBudget, readKeyBudget, readTenantBudget } from '#adapters/store/accounts/budget-items.ts'
import type { Budget } from '#core/budgets.ts'
import { microcredits } from '#core/money.ts'

const BUDGET: Budget = {
  amount: microcredits(100),
  period: { kind: 'day', id: '2026-11-30' },
  spent: microcredits(30),
  held: microcredits(20),
  left: microcredits(50),
  free: microcredits(80),
}

describe('putKeyBudget', () => {
  const { Put } = putKeyBudget('acme', 'k1', BUDGET) as { Put: { Item: Record<string, unknown> } }

  it('writes what readKeyBudget reads', () => {
    expect(readKeyBudget(Put.Item)).toStrictEqual(BUDGET)
  })

  it('names the tenant, and stands in the index of what alerts watch', () => {
    expect(Put.Item).toMatchObject({ PK: 'BUDGET#k1', tenantId: 'acme', GSI1PK: 'BUDGETS', GSI1SK: 'k1' })
  })

  it('is refused if there is a budget with this id', () => {
    expect(Put).toMatchObject({ ConditionExpression: 'attribute_not_exists(PK)' })
  })
})

describe('readTenantBudget', () => {
  it('finds none on a balance without one', () => {
    expect(readTenantBudget({ available: 1, held: 0 })).toBeUndefined()
  })

  it('takes what is held from the balance', () => {
    const stored = { budgetAmount: 100, budgetPeriod: 'day', budgetPeriodId: '2026-11-30' }
    expect(readTenantBudget({ held: 20, ...stored, budgetSpent: 30, budgetLeft: 50, budgetFree: 80 })).toStrictEqual(
      BUDGET,
    )
  })
})
