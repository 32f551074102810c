import { describe, expect, it } from '@jest/globals'
import { axisLabel, axisTop, labelledPlaces } from '#web/core/chart-axis.ts'
import { usageGroup, usageGroups } from '#web/core/usage-group.ts'
import { stackedHeights, usageSentence, usageSeries, withEmptyDays } from '#web/core/usage-series.ts'

const DAYS = ['2026-11-21', '2026-11-22']
const points = [
  { day: '2026-11-21', name: 'small', cost: '0.1' },
  { day: '2026-11-22', name: 'small', cost: '0.2' },
  { day: '2026-11-22', name: 'large', cost: '3' },
]

describe('usage-series', () => {
  it('puts the largest series first, with a cost for each day', () => {
    expect(usageSeries(points, DAYS)).toEqual([
      { name: 'large', costs: ['0', '3'], total: '3' },
      { name: 'small', costs: ['0.1', '0.2'], total: '0.3' },
    ])
  })

  it('gathers the smallest ones in others, so that no credit is missing', () => {
    const many = Array.from({ length: 20 }, (_, index) => ({
      day: '2026-11-22',
      name: `m${index}`,
      cost: `${index + 1}`,
    }))
    const series = usageSeries(many, DAYS)
    expect(series).toHaveLength(8)
    expect(series.at(-1)).toEqual({ name: 'others', costs: ['0', '91'], total: '91' })
    expect(stackedHeights(series).at(-1)).toEqual([0, 210])
  })

  it('names each of eight series, since others would stand for a single one', () => {
    const eight = Array.from({ length: 8 }, (_, index) => ({ day: '2026-11-22', name: `m${index}`, cost: '1' }))
    expect(usageSeries(eight, DAYS).map(({ name }) => name)).toEqual(eight.map(({ name }) => name))
  })

  it('stacks each series on those before it', () => {
    expect(stackedHeights(usageSeries(points, DAYS))).toEqual([
      [0, 3],
      [0.1, 3.2],
    ])
  })

  it('says in a sentence what the chart shows', () => {
    expect(usageSentence(usageSeries(points, DAYS), DAYS)).toBe(
      'Cost by day from 2026-11-21 to 2026-11-22: 3.3 credits in all, of which large 3, small 0.3.',
    )
    expect(usageSentence([], DAYS)).toBe('Cost by day from 2026-11-21 to 2026-11-22: 0 credits in all.')
  })

  it('has a day for each one on which nothing was spent', () => {
    const spent = [{ day: '2026-11-22', cost: '0.7', requests: 1 }]
    expect(withEmptyDays(spent, DAYS)).toEqual([{ day: '2026-11-21', cost: '0', requests: 0 }, ...spent])
  })
})

describe('usageGroup', () => {
  it('is what the url asks for', () => {
    expect([usageGroup('key', 'demo'), usageGroup('tenant', undefined), usageGroup(undefined, 'demo')]).toEqual([
      'key',
      'tenant',
      'model',
    ])
  })

  it('is no dimension that the usage does not have, such as the tenant of one tenant', () => {
    expect([usageGroup('tenant', 'demo'), usageGroup('day; drop', undefined)]).toEqual(['model', 'model'])
    expect(usageGroups('demo').map(([value]) => value)).not.toContain('tenant')
  })
})

describe('the axis of a chart', () => {
  it.each([
    [[0.052, 0.01], 0.06],
    [[23], 30],
    [[1], 1],
    [[999], 1_000],
    [[3_000_001], 4_000_000],
    [[], 1],
  ])('over %j ends at %d', (values, top) => {
    expect(axisTop(values)).toBe(top)
  })

  it('says round numbers as people read them', () => {
    expect([1_500, 0.03, 0, 2_000_000].map(axisLabel)).toEqual(['1,500', '0.03', '0', '2,000,000'])
  })

  it('has five labels at most, at both ends and between them', () => {
    expect([0, 1, 3, 30].map(labelledPlaces)).toEqual([[], [0], [0, 1, 2], [0, 7, 15, 22, 29]])
  })
})
