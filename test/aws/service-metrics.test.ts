import { Stack } from 'aws-cdk-lib'
import { describe, expect, it } from 'vitest'
import { ServiceMetrics } from '#stack/metrics.ts'

const metrics = new ServiceMetrics(new Stack(undefined, 'Reelgate-test'))

describe('service-metrics', () => {
  it('sums one metric of all functions in the namespace of the stack', () => {
    expect(metrics.sum('overdraft', 5).toMetricConfig().metricStat).toMatchObject({
      namespace: 'Reelgate-test',
      metricName: 'overdraft',
      dimensions: [{ name: 'service', value: 'reelgate' }],
      statistic: 'Sum',
      period: expect.objectContaining({ amount: 5 }),
    })
  })

  it('sums the metric of one channel', () => {
    const { metricStat } = metrics.sumOfChannel('overdraft', { channel: 'main', minutes: 5 }).toMetricConfig()
    expect(metricStat?.dimensions).toEqual([
      { name: 'channel', value: 'main' },
      { name: 'service', value: 'reelgate' },
    ])
  })

  it('has a share of zero below the least total, and counts missing metrics as zero', () => {
    const share = metrics.share('store_failed', { of: ['store_failed', 'overdraft'], minutes: 5, atLeast: 20 })
    expect(share).toMatchObject({ unit: '%', minimum: 'of at least 20' })
    const { mathExpression } = share.metric.toMetricConfig()
    const whole = '(FILL(store_failed, 0) + FILL(overdraft, 0))'
    expect(mathExpression?.expression).toBe(`IF(${whole} >= 20, 100 * FILL(store_failed, 0) / ${whole}, 0)`)
    expect(Object.keys(mathExpression?.usingMetrics ?? {})).toEqual(['store_failed', 'overdraft'])
  })

  it('searches for one line per channel', () => {
    const { mathExpression } = metrics.each('store_failed', { statistic: 'p95', minutes: 5 }).toMetricConfig()
    expect(mathExpression?.expression).toBe(
      `SEARCH('{"Reelgate-test",service,channel} MetricName="store_failed"', 'p95', 300)`,
    )
  })
})
