import { Duration } from 'aws-cdk-lib'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { describe, expect, it } from 'vitest'
import { METRICS_MAX, sumOfMetrics } from '#stack/metrics.ts'

const metricsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => new Metric({ namespace: 'Test', metricName: `m-${index}` }))
const PERIOD = Duration.minutes(5)

describe('sum-of-metrics', () => {
  it('adds metrics up, and counts missing ones as zero', () => {
    const { mathExpression } = sumOfMetrics(metricsOf(2), PERIOD).toMetricConfig()
    expect(mathExpression?.expression).toBe('FILL(m0, 0) + FILL(m1, 0)')
    expect(Object.keys(mathExpression?.usingMetrics ?? {})).toEqual(['m0', 'm1'])
  })

  it('accepts the most metrics of an alarm, and throws for one more', () => {
    expect(() => sumOfMetrics(metricsOf(METRICS_MAX), PERIOD)).not.toThrow()
    expect(() => sumOfMetrics(metricsOf(METRICS_MAX + 1), PERIOD)).toThrow(RangeError)
  })
})
