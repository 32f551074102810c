import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  ALERT_THRESHOLDS,
  allowsMove,
  type Budget,
  BudgetExceededError,
  type BudgetShortfall,
  budgetAt,
  budgetShortfallMessage,
  crossedThresholds,
  formatBudgetLimit,
  InvalidBudgetError,
  isOutdated,
  type MoneyMove,
  movingPeriod,
  movingTime,
  parseBudgetLimit,
  parsePeriodKind,
  periodAt,
  periodEnd,
} from '#core/budgets.ts'
import { InvalidAmountError, microcredits, parseCredits } from '#core/money.ts'

const NEW_YEARS_EVE = Date.UTC(2026, 11, 31, 23, 59, 59, 999)
const DAY = 24 * 60 * 60 * 1000

function budget(changes: Partial<Budget> = {}): Budget {
  const amounts = { amount: 100, spent: 30, held: 20, left: 50, free: 80 }
  const branded = Object.fromEntries(Object.entries(amounts).map(([name, value]) => [name, microcredits(value)]))
  return { ...(branded as Omit<Budget, 'period'>), period: periodAt('day', NEW_YEARS_EVE), ...changes }
}

describe('periodAt', () => {
  it('names days and months in UTC', () => {
    expect(periodAt('day', NEW_YEARS_EVE)).toStrictEqual({ kind: 'day', id: '2026-12-31' })
    expect(periodAt('month', NEW_YEARS_EVE)).toStrictEqual({ kind: 'month', id: '2026-12' })
    expect(periodAt('day', NEW_YEARS_EVE + 1).id).toBe('2027-01-01')
    expect(periodAt('month', NEW_YEARS_EVE + 1).id).toBe('2027-01')
  })

  it('has one period for a total', () => {
    expect(periodAt('total', 0)).toStrictEqual(periodAt('total', NEW_YEARS_EVE))
  })
})

describe('periodEnd', () => {
  it.each(['day', 'month'] as const)('is the first second of the next %s', (kind) => {
    expect(periodEnd(periodAt(kind, NEW_YEARS_EVE))).toBe((NEW_YEARS_EVE + 1) / 1000)
  })

  it('is the moment at which the period changes, at any time', () => {
    const kinds = fc.constantFrom('day', 'month')
    fc.assert(
      fc.property(kinds, fc.integer({ min: 0, max: 4_000_000_000_000 }), (kind, now) => {
        const end = (periodEnd(periodAt(kind, now)) ?? 0) * 1000
        expect(periodAt(kind, end - 1)).toStrictEqual(periodAt(kind, now))
        expect(periodAt(kind, end).id > periodAt(kind, now).id).toBe(true)
      }),
    )
  })

  it('does not exist for a total', () => {
    expect(periodEnd(periodAt('total', NEW_YEARS_EVE))).toBeNull()
  })
})

describe('movingPeriod', () => {
  it('begins the current period after an earlier one', () => {
    expect(movingPeriod(periodAt('day', NEW_YEARS_EVE), NEW_YEARS_EVE + 1).id).toBe('2027-01-01')
  })

  it('stays in a period that a faster clock began', () => {
    const begun = periodAt('day', NEW_YEARS_EVE + 1)
    expect(movingPeriod(begun, NEW_YEARS_EVE)).toBe(begun)
  })
})

describe('movingTime', () => {
  const [today, tomorrow] = [periodAt('day', NEW_YEARS_EVE), periodAt('month', NEW_YEARS_EVE + 1)]

  it('is now within the known periods, without one, and for a total', () => {
    expect(movingTime([today, undefined, periodAt('total', 0)], NEW_YEARS_EVE)).toBe(NEW_YEARS_EVE)
    expect(movingTime([], NEW_YEARS_EVE)).toBe(NEW_YEARS_EVE)
  })

  it('is the beginning of the latest period that a faster clock began, so that days and periods agree', () => {
    expect(movingTime([today, tomorrow], NEW_YEARS_EVE)).toBe(NEW_YEARS_EVE + 1)
    expect(movingTime([today, tomorrow], NEW_YEARS_EVE - 599_999)).toBe(NEW_YEARS_EVE + 1)
  })

  it('does not follow a clock that is wrong by more than two right clocks can differ', () => {
    expect(movingTime([tomorrow], NEW_YEARS_EVE - 600_000)).toBe(NEW_YEARS_EVE - 600_000)
  })
})

describe('budgetAt', () => {
  it('has spent nothing in a new period and keeps what is held', () => {
    expect(budgetAt(budget(), NEW_YEARS_EVE + 1)).toStrictEqual(
      budget({ period: { kind: 'day', id: '2027-01-01' }, spent: microcredits(0), left: microcredits(80) }),
    )
  })

  it('is as stored within its period', () => {
    expect(budgetAt(budget(), NEW_YEARS_EVE)).toStrictEqual(budget())
  })
})

describe('allowsMove', () => {
  const allows = (move: Partial<MoneyMove>, at = NEW_YEARS_EVE, left = 50) =>
    allowsMove(budget({ left: microcredits(left) }), { locked: 0n, closed: 0n, billed: 0n, ...move }, at)

  it('allows to lock exactly what is left, and no more', () => {
    expect(allows({ locked: 50n })).toBe(true)
    expect(allows({ locked: 51n })).toBe(false)
  })

  it('counts money that comes back in the same move', () => {
    expect(allows({ locked: 58n, closed: 10n, billed: 2n })).toBe(true)
    expect(allows({ locked: 59n, closed: 10n, billed: 2n })).toBe(false)
  })

  it('allows in a new period what holds leave free', () => {
    expect(allows({ locked: 80n }, NEW_YEARS_EVE + 1)).toBe(true)
    expect(allows({ locked: 81n }, NEW_YEARS_EVE + 1)).toBe(false)
  })

  it('never refuses a settlement, not even above the reservation', () => {
    expect(allows({ closed: 10n, billed: 1_000n }, NEW_YEARS_EVE, -5)).toBe(true)
  })

  it('refuses while an overdraft is not covered by what comes back', () => {
    expect(allows({ locked: 7n, closed: 10n, billed: 2n }, NEW_YEARS_EVE, -5)).toBe(false)
  })
})

describe('isOutdated', () => {
  const today = periodAt('day', NEW_YEARS_EVE)
  const tomorrow = periodAt('day', NEW_YEARS_EVE + 1)
  const yesterday = periodAt('day', NEW_YEARS_EVE - DAY)

  it.each([
    ['a budget that was set', undefined, today, true],
    ['a budget that was cleared', today, undefined, true],
    ['a period that another process began', yesterday, today, true],
    ['a later period than this clock has', today, tomorrow, true],
    ['a period that is to be begun', today, yesterday, true],
    ['another kind of period', today, periodAt('month', NEW_YEARS_EVE), true],
    ['a total', today, periodAt('total', 0), true],
    ['no budget as before', undefined, undefined, false],
    ['the same period', today, { ...today }, false],
    ['two old periods, each of which ends now', yesterday, periodAt('day', NEW_YEARS_EVE - 9 * DAY), false],
  ])('tells %s', (_, known, actual, expected) => {
    expect(isOutdated(known, actual, NEW_YEARS_EVE)).toBe(expected)
  })
})

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

const crossed = (spent: string, amount = '1', thresholds = ALERT_THRESHOLDS) =>
  crossedThresholds({ spent: parseCredits(spent), amount: parseCredits(amount) }, thresholds)

describe('crossedThresholds', () => {
  it.each([
    ['0', []],
    ['0.499999', []],
    ['0.5', [50]],
    ['0.799999', [50]],
    ['0.8', [50, 80]],
    ['0.999999', [50, 80]],
    ['1', [50, 80, 100]],
    ['3', [50, 80, 100]],
  ])('%s of 1 crosses %j, exact to the microcredit', (spent, expected) => {
    expect(crossed(spent)).toEqual(expected)
  })

  it('sorts thresholds, whatever their order', () => {
    expect(crossed('1', '1', [100, 120, 10])).toEqual([10, 100])
  })

  it('crosses nothing of a budget of zero before something is spent', () => {
    expect(crossed('0', '0')).toEqual([])
    expect(crossed('0.000001', '0')).toEqual([50, 80, 100])
  })
})

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
      '0.5 credits are needed, but 0.2 are left in the daily budget that this api key uses until 2026-11-23T00:00:00Z',
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
      '0.5 credits are needed, but 0.2 are left in the budget that this api key uses',
    )
  })
})
