import { describe, expect, it } from 'vitest'
import { BudgetExceededError, type BudgetShortfall, budgetShortfallMessage } from '#core/money/budget-exceeded-error.ts'
import { parseCredits } from '#core/money/money.ts'

const shortfall: BudgetShortfall = {
  of: 'api key',
  needed: parseCredits('0.5'),
  left: parseCredits('0.2'),
  period: { kind: 'day', id: '2026-11-22' },
}

describe('BudgetExceededError', () => {
  it('is a 402 with a code of its own and a fixed message', () => {
    expect(new BudgetExceededError(shortfall)).toMatchObject({
      statusCode: 402,
      message: 'budget exceeded',
      kind: { type: 'insufficient_quota', code: 'budget_exceeded' },
      shortfall,
    })
  })
})

describe('budgetShortfallMessage', () => {
  it('says what is needed, what is left, whose budget it is and when it starts again', () => {
    expect(budgetShortfallMessage(shortfall)).toBe(
      '0.5 credits are needed, but 0.2 are left in the daily budget of this api key until 2026-11-23T00:00:00Z',
    )
  })

  it('says the month of a monthly budget of the tenant', () => {
    expect(budgetShortfallMessage({ ...shortfall, of: 'tenant', period: { kind: 'month', id: '2026-12' } })).toBe(
      '0.5 credits are needed, but 0.2 are left in the monthly budget of this tenant until 2027-01-01T00:00:00Z',
    )
  })

  it('ends with advice, if there is any', () => {
    expect(budgetShortfallMessage({ ...shortfall, advice: 'set n to at most 2' })).toMatch(
      /00:00Z; set n to at most 2$/,
    )
  })

  it('names no end of a total', () => {
    expect(budgetShortfallMessage({ ...shortfall, period: { kind: 'total', id: 'total' } })).toBe(
      '0.5 credits are needed, but 0.2 are left in the budget of this api key',
    )
  })
})
