import type { Duration } from 'aws-cdk-lib'
import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch'
import type { AlarmDefinition } from './alarm-definition.ts'
import { METRICS_MAX, sumOfMetrics } from './sum-of-metrics.ts'

type AlarmKind = Omit<AlarmDefinition, 'metric' | 'part'>

/**
 * One alarm on the sum of metrics, or as many of its kind as it takes until each looks at no more than CloudWatch lets it.
 * With a threshold of one that is the same as one alarm on them all; with a higher one each part must reach it alone.
 */
export function alarmsOnSum(
  kind: AlarmKind,
  metrics: readonly IMetric[],
  period: Duration,
): readonly AlarmDefinition[] {
  return Array.from({ length: Math.ceil(metrics.length / METRICS_MAX) }, (_, index) => {
    const start = index * METRICS_MAX
    return { ...kind, part: index + 1, metric: sumOfMetrics(metrics.slice(start, start + METRICS_MAX), period) }
  })
}
