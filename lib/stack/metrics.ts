import { Duration, Stack } from 'aws-cdk-lib'
import { GraphWidget, type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { Construct } from 'constructs'
import type { FactMetric, Measure } from '#core/measures.ts'
import { CLOUDFRONT_REGION } from '../config/platform-facts.ts'
import type { AlarmDefinition } from './alarm-definition.ts'

/** The value of the dimension `service` of every metric of the functions. */
export const SERVICE_NAME = 'reelgate'

/** The metrics namespace of a stack. It is separate for each stage, so that one stage cannot trigger the alarms of another. */
export function metricsNamespaceOf(scope: Construct): string {
  return Stack.of(scope).stackName
}

type MetricName = FactMetric | Measure

type ShareOptions = {
  readonly of: readonly MetricName[]
  readonly minutes: number
  /** The least total of a period; below it the share is 0. */
  readonly atLeast: number
}

/**
 * The metrics of the functions of a stack, summed over all functions. The only dimension is `service`, unless a method says otherwise
 * (docs/decisions/0106).
 */
export class ServiceMetrics {
  readonly #namespace: string

  constructor(scope: Construct) {
    this.#namespace = metricsNamespaceOf(scope)
  }

  /** @param statistic of CloudWatch: `Sum`, `Maximum`, `p95`. */
  metric(metricName: MetricName, { statistic, minutes }: { statistic: string; minutes: number }): Metric {
    return new Metric({
      namespace: this.#namespace,
      metricName,
      dimensionsMap: { service: SERVICE_NAME },
      statistic,
      period: Duration.minutes(minutes),
    })
  }

  sum(metricName: MetricName, minutes: number): Metric {
    return this.metric(metricName, { statistic: 'Sum', minutes })
  }

  /** The metric of one channel, with the dimensions `service` and `channel`. */
  sumOfChannel(metricName: MetricName, { channel, minutes }: { channel: string; minutes: number }): Metric {
    return new Metric({
      namespace: this.#namespace,
      metricName,
      dimensionsMap: { service: SERVICE_NAME, channel },
      statistic: 'Sum',
      period: Duration.minutes(minutes),
    })
  }

  maximum(metricName: MetricName, minutes: number): Metric {
    return this.metric(metricName, { statistic: 'Maximum', minutes })
  }

  /** A part as a percentage of its whole, for an alarm. Missing data count as 0. */
  share(
    part: MetricName,
    { of, minutes, atLeast }: ShareOptions,
  ): Pick<AlarmDefinition, 'metric' | 'unit' | 'minimum'> {
    const ids = of.map((name) => `FILL(${name}, 0)`)
    const whole = `(${ids.join(' + ')})`
    const metric = new MathExpression({
      expression: `IF(${whole} >= ${atLeast}, 100 * FILL(${part}, 0) / ${whole}, 0)`,
      usingMetrics: Object.fromEntries([part, ...of].map((name) => [name, this.sum(name, minutes)])),
      label: `${part} of ${of.join(' + ')}, percent`,
      period: Duration.minutes(minutes),
    })
    return { metric, unit: '%', minimum: `of at least ${atLeast}` }
  }

  /** One line per channel, which CloudWatch searches when it draws the graph. */
  each(metricName: MetricName, { statistic, minutes }: { statistic: string; minutes: number }): IMetric {
    const schema = `{"${this.#namespace}",service,channel}`
    const search = `${schema} MetricName="${metricName}"`
    return new MathExpression({
      expression: `SEARCH('${search}', '${statistic}', ${minutes * 60})`,
      usingMetrics: {},
      label: '',
      period: Duration.minutes(minutes),
    })
  }
}

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

const PERIOD = Duration.minutes(5)

/** Below it one failure would be a large share. */
const REQUESTS_MIN = 20

/** A metric of a distribution. CloudFront publishes in us-east-1 alone: a graph may be anywhere, an alarm must be there. */
export function frontDoorMetric(distributionId: string, metricName: 'Requests' | '5xxErrorRate'): Metric {
  return new Metric({
    namespace: 'AWS/CloudFront',
    metricName,
    dimensionsMap: { DistributionId: distributionId, Region: 'Global' },
    statistic: metricName === 'Requests' ? 'Sum' : 'Average',
    period: PERIOD,
    region: CLOUDFRONT_REGION,
  })
}

/** The alarm on errors that viewers see, those of CloudFront itself included. For a stack in us-east-1. */
export function frontDoorAlarm(distributionId: string): AlarmDefinition {
  return {
    name: 'FrontDoorErrors',
    meaning: 'The front door answers one request in twenty or more with a 5xx.',
    metric: new MathExpression({
      expression: `IF(requests >= ${REQUESTS_MIN}, errors, 0)`,
      usingMetrics: {
        errors: frontDoorMetric(distributionId, '5xxErrorRate'),
        requests: frontDoorMetric(distributionId, 'Requests'),
      },
      label: '5xx, percent',
      period: PERIOD,
    }),
    threshold: 5,
    unit: '%',
    minimum: `of at least ${REQUESTS_MIN}`,
    periods: 2,
  }
}

/** Four graphs per row: a dashboard has 24 columns. */
const WIDTH = 6
const HEIGHT = 6

/** Creates a graph of the dashboard. Metrics with another unit go on the right axis. */
export function graph(title: string, left: readonly IMetric[], right: readonly IMetric[] = []): GraphWidget {
  return new GraphWidget({ title, left: [...left], right: [...right], width: WIDTH, height: HEIGHT })
}
