import { describe, expect, it } from 'vitest'
import { formatBudgetLimit, InvalidBudgetError, parseBudgetLimit, parsePeriodKind } from '#core/money/budget-limit.ts'
import { InvalidAmountError } from '#core/money/money.ts'

describe('parseBudgetLimit', () => {
  it.each(['5/month', '0.25/day', '100/total', '0/day'])('reads %s, which formatBudgetLimit writes again', (text) => {
    expect(formatBudgetLimit(parseBudgetLimit(text))).toBe(text)
  })

  it.each(['5', '5/week', '5/month/2', '', '/'])('refuses %j with what is allowed', (text) => {
    expect(() => parseBudgetLimit(text)).toThrow(/5\/month|day, month or total|not an amount/)
  })

  it('refuses an amount that is none', () => {
    expect(() => parseBudgetLimit('-5/month')).toThrow(InvalidAmountError)
  })
})

describe('parsePeriodKind', () => {
  it('names the periods that exist', () => {
    expect(parsePeriodKind('day')).toBe('day')
    expect(() => parsePeriodKind('year')).toThrow(
      new InvalidBudgetError('"year" is not a period: use day, month or total'),
    )
  })
})
