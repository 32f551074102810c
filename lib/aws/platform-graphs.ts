import { Duration } from 'aws-cdk-lib'
import { type IMetric, type IWidget, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { functionsBelow } from './gateway-function.ts'
import { graph } from './graph.ts'
import type { WatchedService } from './watched-service.ts'

const PERIOD = Duration.minutes(5)

/** The row of AWS metrics: API, functions and table. */
export function platformGraphs({ api, pipeline, reconcile, table }: WatchedService): IWidget[] {
  const { restApi } = api
  const options = { period: PERIOD, statistic: 'Sum' }
  const functions = [api, pipeline, reconcile].flatMap((part) => functionsBelow(part).map((each) => each.function))
  const ofTable = (metricName: string) =>
    new Metric({
      namespace: 'AWS/DynamoDB',
      metricName,
      dimensionsMap: { TableName: table.name },
      statistic: 'Sum',
      period: PERIOD,
    })
  return [
    graph(
      'API',
      [restApi.metricCount(options), restApi.metricClientError(options), restApi.metricServerError(options)],
      [
        restApi.metricLatency({ period: PERIOD, statistic: 'p50' }),
        restApi.metricLatency({ period: PERIOD, statistic: 'p99' }),
      ],
    ),
    graph(
      'Lambda errors',
      functions.map((each) => each.metricErrors({ period: PERIOD })),
    ),
    graph(
      'Lambda throttles, and concurrency of the account',
      functions.map((each) => each.metricThrottles({ period: PERIOD })),
      [
        new Metric({
          namespace: 'AWS/Lambda',
          metricName: 'ConcurrentExecutions',
          statistic: 'Maximum',
          period: PERIOD,
        }),
      ],
    ),
    graph(
      'DynamoDB throttles, and units',
      [ofTable('ReadThrottleEvents'), ofTable('WriteThrottleEvents')],
      [
        perSecond('reads', ofTable('ConsumedReadCapacityUnits')),
        perSecond('writes', ofTable('ConsumedWriteCapacityUnits')),
      ],
    ),
  ]
}

function perSecond(label: string, metric: IMetric): IMetric {
  return new MathExpression({
    expression: `${label} / PERIOD(${label})`,
    usingMetrics: { [label]: metric },
    label: `${label} a second`,
    period: PERIOD,
  })
}
