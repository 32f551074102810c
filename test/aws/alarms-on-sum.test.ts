import { Duration } from 'aws-cdk-lib'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { describe, expect, it } from 'vitest'
import { alarmsOnSum } from '#aws/alarms-on-sum.ts'

const KIND = { name: 'Throttled', meaning: 'Too many.', threshold: 50, periods: 2 }
const PERIOD = Duration.minutes(5)

function metricsOf(count: number): Metric[] {
  return Array.from({ length: count }, (_, index) => new Metric({ namespace: 'Test', metricName: `metric-${index}` }))
}

/** Which metrics each alarm adds up. */
function partsOf(count: number): unknown[] {
  return alarmsOnSum(KIND, metricsOf(count), PERIOD).map(({ metric }) =>
    Object.values(metric.toMetricConfig().mathExpression?.usingMetrics ?? {}).map(
      (each) => each.toMetricConfig().metricStat?.metricName,
    ),
  )
}

describe('alarms on a sum', () => {
  it.each([
    [1, [1]],
    [10, [10]],
    [11, [10, 1]],
    [20, [10, 10]],
    [21, [10, 10, 1]],
  ])('of %i metrics cover each metric once, with at most ten per alarm', (count, sizes) => {
    const parts = partsOf(count)
    expect(parts.map((part) => Object(part).length)).toEqual(sizes)
    expect(parts.flat()).toEqual(metricsOf(count).map(({ metricName }) => metricName))
  })

  it('share their definition and are numbered from one', () => {
    const alarms = alarmsOnSum(KIND, metricsOf(11), PERIOD)
    expect(alarms).toMatchObject([
      { ...KIND, part: 1 },
      { ...KIND, part: 2 },
    ])
  })
})
