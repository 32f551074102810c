import { Duration, Stack } from 'aws-cdk-lib'
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { Construct } from 'constructs'
import type { FactMetric, Measure } from '#core/measures.ts'
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
