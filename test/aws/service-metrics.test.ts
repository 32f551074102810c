import { Stack } from 'aws-cdk-lib'
import { describe, expect, it } from 'vitest'
import { ServiceMetrics } from '#aws/service-metrics.ts'

const metrics = new ServiceMetrics(new Stack(undefined, 'Reelgate-test'))

describe('service-metrics', () => {
  it('sums one metric of all functions in the namespace of the stack', () => {
    expect(metrics.sum('resolution_conflict', 5).toMetricConfig().metricStat).toMatchObject({
      namespace: 'Reelgate-test',
      metricName: 'resolution_conflict',
      dimensions: [{ name: 'service', value: 'reelgate' }],
      statistic: 'Sum',
      period: expect.objectContaining({ amount: 5 }),
    })
  })

  it('sums the metric of one channel', () => {
    const { metricStat } = metrics.sumOfChannel('resolution_conflict', { channel: 'main', minutes: 5 }).toMetricConfig()
    expect(metricStat?.dimensions).toEqual([
      { name: 'channel', value: 'main' },
      { name: 'service', value: 'reelgate' },
    ])
  })

  it('has a share of zero below the least total, and counts missing metrics as zero', () => {
    const { mathExpression } = metrics
      .share('channel_refused', { of: ['channel_refused', 'overdraft'], minutes: 5, atLeast: 20 })
      .toMetricConfig()
    const whole = '(FILL(channel_refused, 0) + FILL(overdraft, 0))'
    expect(mathExpression?.expression).toBe(`IF(${whole} >= 20, 100 * FILL(channel_refused, 0) / ${whole}, 0)`)
    expect(Object.keys(mathExpression?.usingMetrics ?? {})).toEqual(['channel_refused', 'overdraft'])
  })

  it('searches for one line per value of the other dimensions', () => {
    const { mathExpression } = metrics
      .each('channel_refused', { by: ['channel'], statistic: 'p95', minutes: 5 })
      .toMetricConfig()
    expect(mathExpression?.expression).toBe(
      `SEARCH('{"Reelgate-test",service,channel} MetricName="channel_refused"', 'p95', 300)`,
    )
  })
})
