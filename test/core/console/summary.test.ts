import { describe, expect, it } from 'vitest'
import { firstSummaryDay, leftOutOf, mergeCounters } from '#core/console/summary.ts'
import { microcredits } from '#core/money/money.ts'
import { addUsageSums, NO_USAGE } from '#core/quota/usage-counter.ts'

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
    ...({ id, name: id, state: 'active', suspendedReason: null, createdAt: 1, budget: null } as const),
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
