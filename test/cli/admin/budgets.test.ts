import { describe, expect, it } from '@jest/globals'
import type { Budget } from '#core/budgets.ts'
import { parseCredits } from '#core/money.ts'
import { budgetJson } from '#lambdas/admin/budgets.ts'
import { budgetLine, readBudget, readLimit } from '../../../lib/cli/admin/budgets.ts'
import { CommandValues } from '../../../lib/cli/admin/command.ts'

const BUDGET: Budget = {
  amount: parseCredits('5'),
  period: { kind: 'day', id: '2026-11-30' },
  spent: parseCredits('1'),
  held: parseCredits('0.5'),
  left: parseCredits('3.5'),
  free: parseCredits('4.5'),
}
const NOON = Date.UTC(2026, 10, 30, 12)
const lineOf = (budget: Budget) => budgetLine(Object(budgetJson(budget, NOON)))

describe('budgetLine', () => {
  it('says what is spent, held and left, and until when', () => {
    expect(lineOf(BUDGET)).toBe('5/day: 1 spent, 0.5 held, 3.5 left until 2026-12-01T00:00:00.000Z')
  })

  it('names no end of a total', () => {
    const total: Budget = { ...BUDGET, period: { kind: 'total', id: 'total' } }
    expect(lineOf(total)).toBe('5/total: 1 spent, 0.5 held, 3.5 left')
  })
})

describe('budgetJson', () => {
  it('shows a period that has ended as a new one', () => {
    expect(budgetJson(BUDGET, NOON + 86_400_000)).toEqual({
      amount: '5',
      period: 'day',
      spent: '0',
      held: '0.5',
      left: '4.5',
      resets_at: '2026-12-02T00:00:00.000Z',
    })
  })

  it('is null without a budget', () => {
    expect(budgetJson(null, NOON)).toBeNull()
  })
})

const values = (options: Record<string, string | true>) => new CommandValues(new Map(Object.entries(options)))

describe('readBudget', () => {
  it('reads a limit or none', () => {
    expect(readBudget('5/month')).toEqual({ amount: 5_000_000n, kind: 'month' })
    expect(readBudget('none')).toBeNull()
  })

  it.each(['5', '5/year', 'five/month'])('refuses %s as a wrong option', (budget) => {
    expect(() => readBudget(budget)).toThrow(expect.objectContaining({ name: 'UsageError' }))
  })
})

describe('readLimit', () => {
  it('reads an amount with its period, or the end of a budget', () => {
    expect(readLimit(values({ amount: '0.5', period: 'day' }))).toEqual({ amount: 500_000n, kind: 'day' })
    expect(readLimit(values({ clear: true }))).toBeNull()
  })

  it.each<[Record<string, string | true>]>([
    [{}],
    [{ amount: '5' }],
    [{ period: 'day' }],
    [{ amount: '5', period: 'year' }],
    [{ clear: true, amount: '5' }],
  ])('refuses %j', (options) => {
    expect(() => readLimit(values(options))).toThrow(expect.objectContaining({ name: 'UsageError' }))
  })
})
