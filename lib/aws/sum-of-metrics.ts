import type { Duration } from 'aws-cdk-lib'
import { type IMetric, MathExpression } from 'aws-cdk-lib/aws-cloudwatch'

/** An alarm may look at ten metrics (PutMetricAlarm, `MetricDataQuery`). */
export const METRICS_MAX = 10

/** Metrics that are not there count as nothing. @throws RangeError for more than an alarm may look at. */
export function sumOfMetrics(metrics: readonly IMetric[], period: Duration): IMetric {
  if (metrics.length > METRICS_MAX) {
    throw new RangeError(`an alarm cannot look at ${metrics.length} metrics`)
  }
  const usingMetrics = Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric]))
  const expression = Object.keys(usingMetrics)
    .map((id) => `FILL(${id}, 0)`)
    .join(' + ')
  return new MathExpression({ expression, usingMetrics, period })
}
