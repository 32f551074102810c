import { describe, expect, it } from 'vitest'
import { explainBalance, explainKeyBudget, foreseeRefusal, isSuspended } from '#adapters/store/money/balance-refusal.ts'
import { BudgetExceededError } from '#core/budgets.ts'
import { InsufficientQuotaError, InvalidApiKeyError, TooManyOpenJobsError } from '#core/errors.ts'
import { microcredits } from '#core/money.ts'

const WANTED = { estimate: microcredits(10), createdAt: 1_000 }
const BALANCE = { state: 'active', available: 10, openJobs: 0 }

describe('balance-refusal', () => {
  it.each([
    ['exactly the funds of the estimate', BALANCE],
    ['one open job fewer than its limit', { ...BALANCE, openJobs: 1, openJobsMax: 2 }],
    ['open jobs and no limit', { ...BALANCE, openJobs: 1_000 }],
  ])('foreseeRefusal: a balance with %s refuses nothing', (_, balance) => {
    expect(foreseeRefusal(WANTED, { balance, keyBudget: undefined })).toBeUndefined()
  })

  it.each([
    ['no balance', undefined, InsufficientQuotaError],
    ['too few funds', { ...BALANCE, available: 9 }, InsufficientQuotaError],
    ['as many open jobs as its limit', { ...BALANCE, openJobs: 2, openJobsMax: 2 }, TooManyOpenJobsError],
    ['a limit of no open jobs', { ...BALANCE, openJobsMax: 0 }, TooManyOpenJobsError],
    ['a suspended tenant', { ...BALANCE, state: 'suspended' }, InvalidApiKeyError],
    ['too few funds and too many jobs', { ...BALANCE, available: 9, openJobsMax: 0 }, InsufficientQuotaError],
    ['a suspended tenant without funds', { ...BALANCE, state: 'suspended', available: 0 }, InvalidApiKeyError],
  ])('%s: the refusal that is foreseen is the refusal of the transaction', (_, balance, expected) => {
    expect(foreseeRefusal(WANTED, { balance, keyBudget: undefined })).toBeInstanceOf(expected)
    expect(explainBalance(WANTED, balance)).toBeInstanceOf(expected)
  })

  it('a balance beyond the exact range of a double is compared exactly', () => {
    const available = 9_007_199_254_740_993n
    expect(
      foreseeRefusal(
        { ...WANTED, estimate: microcredits(available) },
        { balance: { ...BALANCE, available }, keyBudget: undefined },
      ),
    ).toBeUndefined()
    expect(
      foreseeRefusal(
        { ...WANTED, estimate: microcredits(available + 1n) },
        { balance: { ...BALANCE, available }, keyBudget: undefined },
      ),
    ).toBeInstanceOf(InsufficientQuotaError)
  })

  const room = (left: number, periodId = '1970-01-01') => ({ period: 'day', periodId, amount: 20, spent: 0, left })
  const keyBudget = (left: number) => ({ ...room(left), held: 0, free: 20 })
  const tenantBudget = (left: number) => ({
    ...BALANCE,
    held: 0,
    ...Object.fromEntries(
      Object.entries({ ...room(left), free: 20 }).map(([name, value]) => [
        `budget${name.charAt(0).toUpperCase()}${name.slice(1)}`,
        value,
      ]),
    ),
  })

  it('budgets with exactly the estimate left refuse nothing', () => {
    expect(foreseeRefusal(WANTED, { balance: tenantBudget(10), keyBudget: keyBudget(10) })).toBeUndefined()
  })

  it('a period that has ended is judged by what a new one has left', () => {
    const later = { ...WANTED, createdAt: 2 * 24 * 60 * 60 }
    expect(foreseeRefusal(later, { balance: tenantBudget(0), keyBudget: keyBudget(0) })).toBeUndefined()
  })

  it('the budget of the key is judged before that of the tenant, and both before funds', () => {
    const poor = { ...tenantBudget(9), available: 0 }
    const of = (keyLeft: number, balance: object) =>
      (foreseeRefusal(WANTED, { balance: { ...balance }, keyBudget: keyBudget(keyLeft) }) as BudgetExceededError)
        .shortfall
    expect(of(9, poor)).toMatchObject({ of: 'api key', needed: 10n, left: 9n })
    expect(of(10, poor)).toMatchObject({ of: 'tenant', needed: 10n, left: 9n })
    expect(explainBalance(WANTED, poor)).toBeInstanceOf(BudgetExceededError)
    expect(explainBalance(WANTED, { ...tenantBudget(10), available: 0 })).toBeInstanceOf(InsufficientQuotaError)
  })

  it('a suspended tenant is refused before budgets are judged', () => {
    const balance = { ...BALANCE, state: 'suspended' }
    expect(foreseeRefusal(WANTED, { balance, keyBudget: keyBudget(0) })).toBeInstanceOf(InvalidApiKeyError)
    expect(isSuspended(balance)).toBe(true)
  })

  it('a budget that is missing from the table refuses without amounts', () => {
    expect(explainKeyBudget(WANTED, undefined)).toMatchObject({ name: 'BudgetExceededError', shortfall: undefined })
  })
})
