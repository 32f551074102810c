import { type Duration, Stack } from 'aws-cdk-lib'
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { Construct } from 'constructs'
import { type FactMetric, type Measure, SERVICE_NAME } from '#core/measures.ts'
import { CLOUDFRONT_REGION } from '../config/platform-facts.ts'
import type { JobTable } from './job-table.ts'

/** The metrics namespace of a stack. It is separate for each stage, so that one stage cannot trigger the alarms of another. */
export function metricsNamespaceOf(scope: Construct): string {
  return Stack.of(scope).stackName
}

/** How the values of a period become one: a statistic of CloudWatch, such as `Sum`, `Maximum` or `p95`. */
export type Window = { readonly statistic: string; readonly period: Duration }

/** The name of a metric of the functions. */
export type MetricName = FactMetric | Measure

/**
 * A metric of the functions of a stack, summed over all functions. The only dimension is `service`, and for a metric of one channel
 * also `channel` (docs/decisions/0106).
 */
export function functionMetric(
  scope: Construct,
  metricName: MetricName,
  { channel, ...window }: Window & { readonly channel?: string | undefined },
): Metric {
  return new Metric({
    namespace: metricsNamespaceOf(scope),
    metricName,
    dimensionsMap: { service: SERVICE_NAME, ...(channel === undefined ? {} : { channel }) },
    ...window,
  })
}

/** A metric of the table, for one operation of DynamoDB if it is given. */
export function tableMetric({ name }: JobTable, metricName: string, period: Duration, operation?: string): Metric {
  return new Metric({
    namespace: 'AWS/DynamoDB',
    metricName,
    dimensionsMap: { TableName: name, ...(operation === undefined ? {} : { Operation: operation }) },
    statistic: 'Sum',
    period,
  })
}

/** A metric of a distribution. CloudFront publishes in us-east-1 alone: a graph may be anywhere, an alarm must be there. */
export function frontDoorMetric(distributionId: string, metricName: 'Requests' | '5xxErrorRate', period: Duration) {
  return new Metric({
    namespace: 'AWS/CloudFront',
    metricName,
    dimensionsMap: { DistributionId: distributionId, Region: 'Global' },
    statistic: metricName === 'Requests' ? 'Sum' : 'Average',
    period,
    region: CLOUDFRONT_REGION,
  })
}

/** Most metrics of an alarm (PutMetricAlarm, `MetricDataQuery`). */
const METRICS_MAX = 10

/** Adds metrics up; missing data count as 0. @throws RangeError for more metrics than an alarm can have. */
export function sumOfMetrics(metrics: readonly IMetric[], period: Duration): IMetric {
  if (metrics.length > METRICS_MAX) {
    throw new RangeError(`an alarm cannot look at ${metrics.length} metrics`)
  }
  const usingMetrics = Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric]))
  return new MathExpression({ expression: filledSum(Object.keys(usingMetrics)), usingMetrics, period })
}

/** The expression that adds metrics up; missing data count as 0. */
export function filledSum(ids: readonly string[]): string {
  return ids.map((id) => `FILL(${id}, 0)`).join(' + ')
}
