import type { Duration } from 'aws-cdk-lib'
import { type IMetric, MathExpression } from 'aws-cdk-lib/aws-cloudwatch'

/** Most metrics of an alarm (PutMetricAlarm, `MetricDataQuery`). */
export const METRICS_MAX = 10

/** Adds metrics up; missing data count as 0. @throws RangeError for more metrics than an alarm can have. */
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
