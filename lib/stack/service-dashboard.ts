import { Aws, Duration, Stack } from 'aws-cdk-lib'
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import { Dashboard, type IMetric, type IWidget, MathExpression, Metric, TextWidget } from 'aws-cdk-lib/aws-cloudwatch'
import { Construct } from 'constructs'
import { RUNBOOK } from './alarm-definition.ts'
import { frontDoorMetric, graph, ServiceMetrics } from './metrics.ts'
import { relayServerGraphs } from './relay-web-function.ts'
import type { WatchedService } from './service-alarms.ts'

const MINUTES = 5
const PERIOD = Duration.minutes(MINUTES)

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

/** The dashboard of the service: money, jobs, upstreams, relay, pipeline and platform. */
export class ServiceDashboard extends Construct {
  readonly #metrics: ServiceMetrics

  constructor(scope: Construct, id: string, service: WatchedService) {
    super(scope, id)
    this.#metrics = new ServiceMetrics(this)
    new Dashboard(this, 'Dashboard', {
      // Names of dashboards are unique in an account across all regions.
      dashboardName: `${Stack.of(this).stackName}-${Aws.REGION}`,
      widgets: [
        [new TextWidget({ markdown: `What each number is and what to do: ${RUNBOOK}`, width: 24, height: 1 })],
        this.#money(),
        this.#jobs(),
        this.#upstreams(),
        [...this.#relay(), ...(service.relay === undefined ? [] : relayServerGraphs(service.relay))],
        this.#pipeline(service),
        ...(service.distribution === undefined ? [] : [this.#console(service.distribution)]),
        platformGraphs(service),
      ],
    })
  }

  #money(): IWidget[] {
    const metrics = this.#metrics
    return [
      graph('Billed credits', [metrics.sum('billed_credits', MINUTES)]),
      graph('Bills that were not by the book', [
        metrics.sum('overdraft', MINUTES),
        metrics.sum('billed_at_estimate', MINUTES),
        metrics.sum('usage_refused', MINUTES),
        metrics.sum('reservation_expired', MINUTES),
        metrics.sum('service_fault', MINUTES),
        metrics.sum('irregularity', MINUTES),
      ]),
      graph('Open reservations', [metrics.maximum('open_jobs', 15), metrics.maximum('open_requests', 15)]),
      graph('Age of the oldest, seconds', [
        metrics.maximum('oldest_open_job_seconds', 15),
        metrics.maximum('oldest_open_request_seconds', 15),
      ]),
    ]
  }

  #jobs(): IWidget[] {
    const metrics = this.#metrics
    return [
      graph('Video jobs', [
        metrics.sum('jobs_created', MINUTES),
        metrics.sum('jobs_submitted', MINUTES),
        metrics.sum('jobs_succeeded', MINUTES),
        metrics.sum('jobs_failed', MINUTES),
      ]),
      graph('Seconds of a job, median', [
        metrics.metric('queue_seconds', { statistic: 'p50', minutes: MINUTES }),
        metrics.metric('first_poll_seconds', { statistic: 'p50', minutes: MINUTES }),
        metrics.metric('generation_seconds', { statistic: 'p50', minutes: MINUTES }),
        metrics.metric('detection_lag_seconds', { statistic: 'p50', minutes: MINUTES }),
        metrics.metric('store_seconds', { statistic: 'p50', minutes: MINUTES }),
        metrics.metric('job_seconds', { statistic: 'p50', minutes: MINUTES }),
      ]),
      graph('Callbacks', [metrics.sum('callback_delivered', MINUTES), metrics.sum('callback_failed', MINUTES)]),
    ]
  }

  #upstreams(): IWidget[] {
    const metrics = this.#metrics
    return [
      graph('Upstream errors, by channel', [
        metrics.each('upstream_error', { statistic: 'SampleCount', minutes: MINUTES }),
      ]),
      graph('Connections that fail', [metrics.sum('upstream_connect_error', MINUTES)]),
      graph('Faults of channels', [metrics.each('channel_fault', { statistic: 'Sum', minutes: MINUTES })]),
    ]
  }

  #relay(): IWidget[] {
    const metrics = this.#metrics
    return [
      graph('Relayed requests', [
        metrics.sum('relay_succeeded', MINUTES),
        metrics.sum('relay_rejected', MINUTES),
        metrics.sum('relay_failed', MINUTES),
      ]),
      graph('Time to first byte, ms', [
        metrics.metric('first_byte_milliseconds', { statistic: 'p99', minutes: MINUTES }),
      ]),
      graph('Time of an upstream, p95 by channel, ms', [
        metrics.each('upstream_milliseconds', { statistic: 'p95', minutes: MINUTES }),
      ]),
      graph('Tokens', [metrics.sum('input_tokens', MINUTES), metrics.sum('output_tokens', MINUTES)]),
    ]
  }

  #console({ distributionId }: Distribution): IWidget[] {
    const metrics = this.#metrics
    return [
      graph('Console', [metrics.sum('console_failed', MINUTES)]),
      graph(
        'Front door: requests, and 5xx in percent',
        [frontDoorMetric(distributionId, 'Requests')],
        [frontDoorMetric(distributionId, '5xxErrorRate')],
      ),
    ]
  }

  #pipeline({ pipeline: { stateMachine }, reconcile }: WatchedService): IWidget[] {
    const metrics = this.#metrics
    return [
      graph('Executions', [
        stateMachine.metricStarted({ period: PERIOD }),
        stateMachine.metricSucceeded({ period: PERIOD }),
        stateMachine.metricFailed({ period: PERIOD }),
      ]),
      graph('Reconcile', [
        reconcile.function.function.metricErrors({ period: PERIOD }),
        metrics.sum('reconcile_failed', MINUTES),
      ]),
      graph('Storing', [metrics.metric('store_bytes_per_second', { statistic: 'p50', minutes: MINUTES })]),
      graph(
        'Stored bytes, and failures',
        [metrics.sum('stored_bytes', MINUTES)],
        [metrics.sum('store_failed', MINUTES)],
      ),
    ]
  }
}
