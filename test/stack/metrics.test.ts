import { describe, expect, it } from '@jest/globals'
import { Duration, Stack } from 'aws-cdk-lib'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { frontDoorMetric, functionMetric, sumOfMetrics } from '#stack/metrics.ts'

const period = Duration.minutes(5)
const stack = new Stack(undefined, 'Reelgate-test')

describe('functionMetric', () => {
  it('sums one metric of all functions in the namespace of the stack', () => {
    const metric = functionMetric(stack, 'overdraft', { statistic: 'Sum', period })
    expect(metric.toMetricConfig().metricStat).toMatchObject({
      namespace: 'Reelgate-test',
      metricName: 'overdraft',
      dimensions: [{ name: 'service', value: 'reelgate' }],
      statistic: 'Sum',
      period: expect.objectContaining({ amount: 5 }),
    })
  })

  it('sums the metric of one channel', () => {
    const metric = functionMetric(stack, 'channel_fault', { statistic: 'Sum', period, channel: 'main' })
    expect(metric.toMetricConfig().metricStat?.dimensions).toEqual([
      { name: 'channel', value: 'main' },
      { name: 'service', value: 'reelgate' },
    ])
  })
})

describe('sumOfMetrics', () => {
  const metricsOf = (count: number) =>
    Array.from({ length: count }, (_, index) => new Metric({ namespace: 'Test', metricName: `m-${index}` }))

  it('adds metrics up, and counts missing ones as zero', () => {
    const { mathExpression } = sumOfMetrics(metricsOf(2), period).toMetricConfig()
    expect(mathExpression?.expression).toBe('FILL(m0, 0) + FILL(m1, 0)')
    expect(Object.keys(mathExpression?.usingMetrics ?? {})).toEqual(['m0', 'm1'])
  })

  it('accepts the ten metrics of an alarm, and throws for one more', () => {
    expect(() => sumOfMetrics(metricsOf(10), period)).not.toThrow()
    expect(() => sumOfMetrics(metricsOf(11), period)).toThrow(RangeError)
  })
})

describe('frontDoorMetric', () => {
  it('is read in us-east-1, where CloudFront publishes it', () => {
    const metric = frontDoorMetric('E2QWRUHAPOMQZL', 'Requests', period)
    expect(metric).toMatchObject({ region: 'us-east-1', statistic: 'Sum' })
    expect(frontDoorMetric('E2QWRUHAPOMQZL', '5xxErrorRate', period).statistic).toBe('Average')
  })
})
