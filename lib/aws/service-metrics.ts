import { Duration, Stack } from 'aws-cdk-lib'
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { Construct } from 'constructs'
import type { CountedFact } from '#core/telemetry/counted-facts.ts'
import type { Measure } from '#core/telemetry/measures.ts'

/** The value of the dimension `service` that every metric of the functions has. */
export const SERVICE_NAME = 'reelgate'

/** Where the functions of a stack count: each stage of an account for itself, or one would set off the other's alarms. */
export function metricsNamespaceOf(scope: Construct): string {
  return Stack.of(scope).stackName
}

type MetricName = CountedFact | Measure

type ShareOptions = {
  readonly of: readonly MetricName[]
  readonly minutes: number
  /** Fewer than this in a period say nothing: the share is 0 then. */
  readonly atLeast: number
}

/**
 * What the functions of a stack count and measure, summed over all of them: the dimension set of `service` alone, unless said
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

  /** Of one channel alone: the dimension set of `service` and `channel`. */
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

  /** How many percent of the whole one of its parts is. A metric that is not there is none. */
  share(part: MetricName, { of, minutes, atLeast }: ShareOptions): IMetric {
    const ids = of.map((name) => `FILL(${name}, 0)`)
    const whole = `(${ids.join(' + ')})`
    return new MathExpression({
      expression: `IF(${whole} >= ${atLeast}, 100 * FILL(${part}, 0) / ${whole}, 0)`,
      usingMetrics: Object.fromEntries([part, ...of].map((name) => [name, this.sum(name, minutes)])),
      label: `${part} of ${of.join(' + ')}, percent`,
      period: Duration.minutes(minutes),
    })
  }

  /** One line for each value of the dimensions beside `service`, found by CloudWatch when the graph is drawn. */
  each(
    metricName: MetricName,
    { by, statistic, minutes }: { by: readonly string[]; statistic: string; minutes: number },
  ): IMetric {
    const schema = `{"${this.#namespace}",service,${by.join(',')}}`
    const search = `${schema} MetricName="${metricName}"`
    return new MathExpression({
      expression: `SEARCH('${search}', '${statistic}', ${minutes * 60})`,
      usingMetrics: {},
      label: '',
      period: Duration.minutes(minutes),
    })
  }
}
