import { Duration, Stack } from 'aws-cdk-lib'
import { type IMetric, type IWidget, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { Construct } from 'constructs'
import { graph } from './graph.ts'
import type { WatchedService } from './watched-service.ts'

const PERIOD = Duration.minutes(5)

/** The row of AWS metrics: API, functions and table. */
export function platformGraphs({ api, table }: WatchedService): IWidget[] {
  const { restApi } = api
  const options = { period: PERIOD, statistic: 'Sum' }
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
      [restApi.metricLatency({ period: PERIOD, statistic: 'p99' })],
    ),
    graph('Lambda errors', [ofFunctions(restApi, 'Errors')]),
    graph(
      'Lambda throttles, and concurrency of the account',
      [ofFunctions(restApi, 'Throttles')],
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

/**
 * One line per function of the stack, which CloudWatch searches when it draws the graph: named one by one, they would take the dashboard
 * above the 50 metrics of a free one. A stack whose name continues this one's is found too.
 */
function ofFunctions(scope: Construct, metricName: 'Errors' | 'Throttles'): IMetric {
  const search = `{AWS/Lambda,FunctionName} MetricName="${metricName}" FunctionName=${Stack.of(scope).stackName}`
  return new MathExpression({
    expression: `SEARCH('${search}', 'Sum', ${PERIOD.toSeconds()})`,
    usingMetrics: {},
    label: '',
    period: PERIOD,
  })
}

function perSecond(label: string, metric: IMetric): IMetric {
  return new MathExpression({
    expression: `${label} / PERIOD(${label})`,
    usingMetrics: { [label]: metric },
    label: `${label} a second`,
    period: PERIOD,
  })
}
