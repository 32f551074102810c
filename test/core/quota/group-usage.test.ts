import { describe, expect, it } from 'vitest'
import { compareValues, UsageGroups } from '#core/quota/group-usage.ts'
import { NO_USAGE } from '#core/quota/usage-counter.ts'
import { usageCounter } from './usage-counters.ts'

const COUNTERS = [
  usageCounter({ day: '2026-11-02', keyId: 'key1', model: 'b' }, { requests: 1, cost: 1n }),
  usageCounter({ day: '2026-11-01', keyId: 'key2', model: 'b' }, { requests: 2, cost: 20n }),
  usageCounter({ day: '2026-11-01', keyId: 'key1', model: 'a' }, { requests: 4, cost: 300n }),
  usageCounter({ day: '2026-11-01', keyId: 'key1', model: 'b' }, { requests: 8, cost: 4_000n }),
]

function grouped(...groupBy: ConstructorParameters<typeof UsageGroups>[0]) {
  const groups = new UsageGroups(groupBy)
  for (const counter of COUNTERS) {
    groups.add(counter)
  }
  return groups
}

const shown = (groups: UsageGroups) => groups.sorted().map(({ values, sums }) => [...values, sums.requests])

describe('UsageGroups', () => {
  it('adds up counters with the same values, sorted by these values', () => {
    expect(shown(grouped('day'))).toEqual([
      ['2026-11-01', 14],
      ['2026-11-02', 1],
    ])
    expect(shown(grouped('model', 'key'))).toEqual([
      ['a', 'key1', 4],
      ['b', 'key1', 9],
      ['b', 'key2', 2],
    ])
  })

  it('keeps values apart that are equal when they are joined', () => {
    const groups = new UsageGroups(['model', 'key'])
    groups.add(usageCounter({ model: 'a","b', keyId: 'c' }))
    groups.add(usageCounter({ model: 'a', keyId: 'b","c' }))
    expect(groups.sorted()).toHaveLength(2)
  })

  it('has the same total for every grouping', () => {
    for (const groups of [grouped('day'), grouped('operation'), grouped('key', 'model', 'day', 'operation')]) {
      expect(groups.total).toEqual({ ...NO_USAGE, requests: 15, cost: 4_321n })
    }
  })

  it('has no group and a total of zero without counters', () => {
    const groups = new UsageGroups(['day'])
    expect([groups.sorted(), groups.total]).toEqual([[], NO_USAGE])
  })
})

describe('compareValues', () => {
  it('compares the first values that differ by code units', () => {
    expect(compareValues(['a', 'z'], ['b', 'a'])).toBeLessThan(0)
    expect(compareValues(['a', 'z'], ['a', 'a'])).toBeGreaterThan(0)
    expect(compareValues(['Z'], ['a'])).toBeLessThan(0)
    expect(compareValues(['a', 'b'], ['a', 'b'])).toBe(0)
  })
})
