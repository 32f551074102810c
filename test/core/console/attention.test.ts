import { describe, expect, it } from 'vitest'
import { attentionOf, type FailedJobs, nearBudget } from '#core/console/attention.ts'
import type { Budget } from '#core/money/budget.ts'
import { microcredits } from '#core/money/money.ts'

const NOW = Date.parse('2026-11-22T12:00:00Z')
const budget = (spent: number, id = '2026-11'): Budget => ({
  ...{ amount: microcredits(100), period: { kind: 'month', id }, spent: microcredits(spent), held: microcredits(0) },
  ...{ left: microcredits(100 - spent), free: microcredits(100) },
})

describe('attentionOf', () => {
  type Tenant = Parameters<typeof attentionOf>[0]
  const tenant = (changes: Partial<Tenant> = {}): Tenant => ({
    ...{ id: 't', name: 'Acme', state: 'active', suspendedReason: null, budget: null, lowBalance: null },
    balance: { available: microcredits(50) },
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

  it('a balance below its mark, and one that is used up', () => {
    expect(found({ lowBalance: microcredits(50) })).toEqual([])
    expect(found({ lowBalance: microcredits(51) })).toEqual(['low_balance warning'])
    const balance = { available: microcredits(0) }
    expect(found({ lowBalance: microcredits(51), balance })).toEqual(['low_balance critical'])
  })

  it('a suspended tenant, with the reason', () => {
    expect(attentionOf(tenant({ state: 'suspended', suspendedReason: 'unpaid' }), NOW)).toMatchObject([
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
      { kind: 'budget', level: 'warning', message: '93 % of the budget of key k1 of Acme is spent', target: 'k1' },
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
