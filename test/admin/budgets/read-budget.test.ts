import { describe, expect, it } from 'vitest'
import { readBudget, readLimit } from '../../../lib/cli/admin/budgets.ts'
import { CommandValues } from '../../../lib/cli/admin/command.ts'

const values = (options: Record<string, string | true>) => new CommandValues(new Map(Object.entries(options)))

describe('readBudget', () => {
  it('reads a limit, none, or nothing', () => {
    expect(readBudget(values({ budget: '5/month' }))).toEqual({ amount: 5_000_000n, kind: 'month' })
    expect(readBudget(values({ budget: 'none' }))).toBeNull()
    expect(readBudget(values({}))).toBeUndefined()
  })

  it.each(['5', '5/year', 'five/month'])('refuses %s as a wrong option', (budget) => {
    expect(() => readBudget(values({ budget }))).toThrow(expect.objectContaining({ name: 'UsageError' }))
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
