import { describe, expect, it } from '@jest/globals'
import {
  attentionOf,
  type FailedJobs,
  firstSummaryDay,
  leftOutOf,
  mergeCounters,
  nearBudget,
} from '#core/admin/summary.ts'
import type { Budget } from '#core/budgets.ts'
import { microcredits } from '#core/money.ts'
import { addUsageSums, NO_USAGE } from '#core/pricing/usage.ts'

const NOTHING = microcredits(0)
const counter = (keyId: string, cost: number) => ({
  ...NO_USAGE,
  ...{ day: '2026-11-22', keyId, operation: 'create-image', model: 'm', requests: 1, cost: microcredits(cost) },
})

describe('mergeCounters', () => {
  it('keeps the dearest counters and sums the rest', () => {
    const counters = [counter('a', 1), counter('b', 9), counter('c', 2), counter('d', 5)]
    const merged = mergeCounters(counters, 3)
    expect(merged.map(({ keyId, cost }) => [keyId, Number(cost)])).toEqual([
      ['b', 9],
      ['d', 5],
      ['other', 3],
    ])
    expect(merged.reduce((sum, each) => addUsageSums(sum, each), NO_USAGE).requests).toBe(4)
    expect(mergeCounters(counters, 4)).toBe(counters)
  })
})

describe('firstSummaryDay', () => {
  it('is 30 days ago', () => {
    expect(firstSummaryDay('2026-11-22')).toBe('2026-10-23')
  })
})

describe('leftOutOf', () => {
  const tenant = (id: string, spent: number, countedSpent: number | null) => ({
    ...({ id, name: id, state: 'active', suspension: null, createdAt: 1, budget: null } as const),
    balance: { available: NOTHING, held: NOTHING, spent: microcredits(spent), granted: NOTHING },
    ...{ openJobs: { count: 0, max: null }, lowBalance: null },
    countedSpent: countedSpent === null ? null : microcredits(countedSpent),
  })

  it('names tenants that have spent something of which nothing was read, five at most', () => {
    expect(leftOutOf({ tenants: [tenant('counted', 2, 1), tenant('new', 0, null)] })).toBeNull()
    expect(leftOutOf({ tenants: [tenant('counted', 2, 1), tenant('large', 2, null)] })).toMatch(/^usage of large, not/)
    const many = Array.from({ length: 7 }, (_, index) => tenant(`t${index}`, 1, null))
    expect(leftOutOf({ tenants: many })).toMatch(/^usage of t0, t1, t2, t3, t4 and 2 more, not/)
  })
})

const NOW = Date.parse('2026-11-22T12:00:00Z')
const budget = (spent: number, id = '2026-11'): Budget => ({
  ...{ amount: microcredits(100), period: { kind: 'month', id }, spent: microcredits(spent), held: microcredits(0) },
  ...{ left: microcredits(100 - spent), free: microcredits(100) },
})

describe('attentionOf', () => {
  type Tenant = Parameters<typeof attentionOf>[0]
  const tenant = (changes: Partial<Tenant> = {}): Tenant => ({
    ...{ id: 't', name: 'Acme', state: 'active', suspension: null, budget: null, lowBalance: null },
    balance: { available: microcredits(50), held: microcredits(0) },
    ...changes,
  })
  const found = (changes: Partial<Tenant>) =>
    attentionOf(tenant(changes), NOW).map(({ kind, level }) => `${kind} ${level}`)

  it.each([
    [79, []],
    [80, ['budget warning']],
    [100, ['budget critical']],
  ])('a budget of which %i %% are spent', (spent, expected) => {
    expect(found({ budget: budget(spent) })).toEqual(expected)
  })

  it('a budget of a period that has ended is no matter', () => {
    expect(found({ budget: budget(100, '2026-10') })).toEqual([])
  })

  it('a balance below its mark, held credits included, and one that is used up', () => {
    expect(found({ lowBalance: microcredits(50) })).toEqual([])
    expect(found({ lowBalance: microcredits(51) })).toEqual(['low_balance warning'])
    const balance = { available: microcredits(0), held: microcredits(50) }
    expect(found({ lowBalance: microcredits(51), balance })).toEqual(['low_balance critical'])
    expect(found({ lowBalance: microcredits(50), balance })).toEqual([])
  })

  it('a suspended tenant, with the reason', () => {
    expect(attentionOf(tenant({ state: 'suspended', suspension: { reason: 'unpaid' } }), NOW)).toMatchObject([
      { kind: 'suspended', message: 'Acme is suspended: unpaid', tenant: { id: 't', name: 'Acme' } },
    ])
  })

  it.each([
    [2, []],
    [3, ['failing_jobs warning']],
    [20, ['failing_jobs critical']],
  ])('%i failed jobs', (count, expected) => {
    const failedJobs: FailedJobs = { count, since: Date.parse('2026-11-22T11:00:00Z'), latestJobId: 'j' }
    expect(found({ failedJobs })).toEqual(expected)
    const [matter] = attentionOf(tenant({ failedJobs }), NOW)
    const about = { message: `${count} video jobs of Acme have failed since 11:00 UTC`, target: 'j' }
    expect(matter).toEqual(matter && expect.objectContaining(about))
  })

  it('budgets of keys, each by its id', () => {
    const nearBudgets = [{ tenantId: 't', budgetId: 'k1', percent: 93 }]
    expect(attentionOf(tenant({ nearBudgets }), NOW)).toMatchObject([
      { kind: 'budget', level: 'warning', message: '93 % of the budget k1 of Acme is spent', target: 'k1' },
    ])
  })
})

describe('nearBudget', () => {
  const near = (of: Budget) => nearBudget({ tenantId: 't', budgetId: 'k', budget: of }, NOW)?.percent

  it('is a budget of the current period of which 80 % or more are spent', () => {
    expect([near(budget(79)), near(budget(80)), near(budget(140))]).toEqual([undefined, 80, 140])
    expect([near(budget(100, '2026-10')), near({ ...budget(0), amount: microcredits(0) })]).toEqual([
      undefined,
      undefined,
    ])
  })
})
