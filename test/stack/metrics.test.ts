import { describe, expect, it } from '@jest/globals'
import { Duration, Stack } from 'aws-cdk-lib'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { frontDoorAlarm, frontDoorMetric, graph, METRICS_MAX, ServiceMetrics, sumOfMetrics } from '#stack/metrics.ts'

const metrics = new ServiceMetrics(new Stack(undefined, 'Reelgate-test'))

describe('ServiceMetrics', () => {
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

const metricsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => new Metric({ namespace: 'Test', metricName: `m-${index}` }))
const PERIOD = Duration.minutes(5)

describe('sumOfMetrics', () => {
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

describe('frontDoorMetric', () => {
  it('is read in us-east-1, where CloudFront publishes it', () => {
    expect(frontDoorMetric('E2QWRUHAPOMQZL', 'Requests')).toMatchObject({ region: 'us-east-1', statistic: 'Sum' })
    expect(frontDoorMetric('E2QWRUHAPOMQZL', '5xxErrorRate').statistic).toBe('Average')
  })
})

describe('frontDoorAlarm', () => {
  it('ignores the share of errors among few requests', () => {
    expect(frontDoorAlarm('E2QWRUHAPOMQZL').metric).toMatchObject({ expression: 'IF(requests >= 20, errors, 0)' })
  })
})

const metric = (metricName: string) => new Metric({ namespace: 'Test', metricName })

describe('graph', () => {
  it('is a quarter of a dashboard wide, with metrics of another unit on the right axis', () => {
    const [widget] = new Stack().resolve(graph('Jobs', [metric('jobs')], [metric('seconds')]).toJson())
    expect(widget).toMatchObject({ width: 6, height: 6, properties: { title: 'Jobs' } })
    expect(widget.properties.metrics).toEqual([
      ['Test', 'jobs'],
      ['Test', 'seconds', { yAxis: 'right' }],
    ])
  })
})
