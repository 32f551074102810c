import { describe, expect, it } from '@jest/globals'
import { explainBalance, foreseeRefusal } from '#adapters/store/money/balance-refusal.ts'
import { InsufficientQuotaError, InvalidApiKeyError, TooManyOpenJobsError } from '#core/errors.ts'
import { microcredits } from '#core/money/money.ts'

const WANTED = { estimate: microcredits(10) }
const BALANCE = { state: 'active', available: 10 }

describe('balance-refusal', () => {
  it.each([
    ['exactly the funds of the estimate', BALANCE],
    ['one open job fewer than its limit', { ...BALANCE, openJobs: 1, openJobsMax: 2 }],
    ['open jobs and no limit', { ...BALANCE, openJobs: 1_000 }],
  ])('foreseeRefusal: a balance with %s refuses nothing', (_, balance) => {
    expect(foreseeRefusal(WANTED, balance)).toBeUndefined()
  })

  it.each([
    ['no balance', undefined, InsufficientQuotaError],
    ['too few funds', { ...BALANCE, available: 9 }, InsufficientQuotaError],
    ['as many open jobs as its limit', { ...BALANCE, openJobs: 2, openJobsMax: 2 }, TooManyOpenJobsError],
    ['a limit of no open jobs', { ...BALANCE, openJobsMax: 0 }, TooManyOpenJobsError],
    ['a suspended tenant', { ...BALANCE, state: 'suspended' }, InvalidApiKeyError],
    ['too few funds and too many jobs', { ...BALANCE, available: 9, openJobsMax: 0 }, InsufficientQuotaError],
    ['a suspended tenant without funds', { state: 'suspended', available: 0 }, InvalidApiKeyError],
  ])('%s: the refusal that is foreseen is the refusal of the transaction', (_, balance, expected) => {
    expect(foreseeRefusal(WANTED, balance)).toBeInstanceOf(expected)
    expect(explainBalance(WANTED, balance)).toBeInstanceOf(expected)
  })

  it('a balance beyond the exact range of a double is compared exactly', () => {
    const available = 9_007_199_254_740_993n
    expect(foreseeRefusal({ estimate: microcredits(available) }, { ...BALANCE, available })).toBeUndefined()
    expect(foreseeRefusal({ estimate: microcredits(available + 1n) }, { ...BALANCE, available })).toBeInstanceOf(
      InsufficientQuotaError,
    )
  })
})
