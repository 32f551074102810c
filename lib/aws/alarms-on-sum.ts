import type { Duration } from 'aws-cdk-lib'
import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch'
import type { AlarmDefinition } from './alarm-definition.ts'
import { METRICS_MAX, sumOfMetrics } from './sum-of-metrics.ts'

type AlarmKind = Omit<AlarmDefinition, 'metric' | 'part'>

/**
 * Defines an alarm on the sum of metrics, split into several alarms if the metrics exceed CloudWatch's limit per alarm. With a
 * threshold of one, the split changes nothing. With a higher one, the metrics of each alarm must reach the threshold alone.
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
