import { Aws, Duration, Stack } from 'aws-cdk-lib'
import { Dashboard, GraphWidget, type IMetric, MathExpression, Metric, TextWidget } from 'aws-cdk-lib/aws-cloudwatch'
import type { Construct } from 'constructs'
import { RUNBOOK, type WatchedService } from './alarm-definitions.ts'
import { frontDoorMetric, functionMetric, type MetricName, metricsNamespaceOf, tableMetric } from './metrics.ts'

const PERIOD = Duration.minutes(5)
const SUM = { statistic: 'Sum', period: PERIOD }
const MEDIAN = { statistic: 'p50', period: PERIOD }
/** Reconcile measures every ten minutes. */
const LATEST = { statistic: 'Maximum', period: Duration.minutes(15) }

/** Four graphs per row: a dashboard has 24 columns. */
const GRAPH = { width: 6, height: 6 }

/** Creates the dashboard of a service. */
export function createDashboard(scope: Construct, service: WatchedService): void {
  const rows = [
    moneyGraphs(service),
    jobGraphs(service),
    upstreamGraphs(service),
    relayGraphs(service),
    pipelineGraphs(service),
    consoleGraphs(service),
    platformGraphs(service),
  ]
  const text = new TextWidget({ markdown: `What each number is and what to do: ${RUNBOOK}`, width: 24, height: 1 })
  new Dashboard(scope, 'Dashboard', {
    // Names of dashboards are unique in an account across all regions.
    dashboardName: `${Stack.of(scope).stackName}-${Aws.REGION}`,
    widgets: [[text], ...rows.filter((row) => row.length > 0)],
  })
}

/** A graph. Metrics with another unit go on the right axis. */
function graph(title: string, left: IMetric[], right: IMetric[] = []): GraphWidget {
  return new GraphWidget({ title, left, right, ...GRAPH })
}

function of({ api }: WatchedService, window: typeof SUM, ...names: MetricName[]): Metric[] {
  return names.map((name) => functionMetric(api, name, window))
}

function sums(service: WatchedService, ...names: MetricName[]): Metric[] {
  return of(service, SUM, ...names)
}

function moneyGraphs(service: WatchedService): GraphWidget[] {
  return [
    graph('Billed credits', sums(service, 'billed_credits')),
    graph(
      'Bills that were not by the book',
      sums(
        service,
        ...(['overdraft', 'billed_at_estimate', 'usage_refused'] as const),
        ...(['reservation_expired', 'service_fault', 'irregularity'] as const),
      ),
    ),
    graph('Open reservations', of(service, LATEST, 'open_jobs', 'open_requests')),
    graph('Age of the oldest, seconds', of(service, LATEST, 'oldest_open_job_seconds', 'oldest_open_request_seconds')),
  ]
}

function jobGraphs(service: WatchedService): GraphWidget[] {
  return [
    graph('Video jobs', sums(service, 'jobs_created', 'jobs_submitted', 'jobs_succeeded', 'jobs_failed')),
    graph(
      'Seconds of a job, median',
      of(
        service,
        MEDIAN,
        ...(['queue_seconds', 'first_poll_seconds', 'generation_seconds'] as const),
        ...(['detection_lag_seconds', 'store_seconds', 'job_seconds'] as const),
      ),
    ),
    graph('Callbacks', sums(service, 'callback_delivered', 'callback_failed')),
  ]
}

function upstreamGraphs(service: WatchedService): GraphWidget[] {
  return [
    graph('Upstream errors, by channel', [byChannel(service, 'upstream_error', 'SampleCount')]),
    graph('Connections that fail', sums(service, 'upstream_connect_error')),
    graph('Faults of channels', [byChannel(service, 'channel_fault', 'Sum')]),
  ]
}

function relayGraphs(service: WatchedService): GraphWidget[] {
  const { relay } = service
  const responses = (['2XX', '4XX', '5XX'] as const).flatMap((status) => relay?.responses(status, PERIOD) ?? [])
  return [
    graph('Relayed requests', sums(service, 'relay_succeeded', 'relay_rejected', 'relay_failed')),
    graph('Time to first byte, ms', of(service, { statistic: 'p99', period: PERIOD }, 'first_byte_milliseconds')),
    graph('Time of an upstream, p95 by channel, ms', [byChannel(service, 'upstream_milliseconds', 'p95')]),
    graph('Tokens', sums(service, 'input_tokens', 'output_tokens')),
    ...(relay === undefined
      ? []
      : [graph('Relay server: responses, and processes that did not start', responses, [relay.failedStarts(PERIOD)])]),
  ]
}

function pipelineGraphs(service: WatchedService): GraphWidget[] {
  const { stateMachine } = service.pipeline
  const reconcile = service.reconcile.function.function
  const options = { period: PERIOD }
  return [
    graph('Executions', [
      stateMachine.metricStarted(options),
      stateMachine.metricSucceeded(options),
      stateMachine.metricFailed(options),
    ]),
    graph('Reconcile', [reconcile.metricErrors(options), ...sums(service, 'reconcile_failed')]),
    graph('Storing', of(service, MEDIAN, 'store_bytes_per_second')),
    graph('Stored bytes, and failures', sums(service, 'stored_bytes'), sums(service, 'store_failed')),
  ]
}

function consoleGraphs(service: WatchedService): GraphWidget[] {
  const { distribution } = service
  if (distribution === undefined) {
    return []
  }
  const edge = (name: 'Requests' | '5xxErrorRate') => [frontDoorMetric(distribution.distributionId, name, PERIOD)]
  return [
    graph('Console', sums(service, 'console_failed')),
    graph('Front door: requests, and 5xx in percent', edge('Requests'), edge('5xxErrorRate')),
  ]
}

/** AWS metrics: API, functions and table. */
function platformGraphs({ api: { restApi }, table }: WatchedService): GraphWidget[] {
  const concurrency = { namespace: 'AWS/Lambda', metricName: 'ConcurrentExecutions', statistic: 'Maximum' }
  const ofTable = (name: string) => tableMetric(table, name, PERIOD)
  return [
    graph(
      'API',
      [restApi.metricCount(SUM), restApi.metricClientError(SUM), restApi.metricServerError(SUM)],
      [restApi.metricLatency({ period: PERIOD, statistic: 'p99' })],
    ),
    graph('Lambda errors', [byFunction(restApi, 'Errors')]),
    graph(
      'Lambda throttles, and concurrency of the account',
      [byFunction(restApi, 'Throttles')],
      [new Metric({ ...concurrency, period: PERIOD })],
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

/** One line per channel. */
function byChannel({ api }: WatchedService, name: MetricName, statistic: string): IMetric {
  return searched(`{"${metricsNamespaceOf(api)}",service,channel} MetricName="${name}"`, statistic)
}

/**
 * One line per function of the stack: named one by one, they would take the dashboard above the 50 metrics of a free one. A stack whose
 * name continues this one's is found too.
 */
function byFunction(scope: Construct, name: 'Errors' | 'Throttles'): IMetric {
  return searched(`{AWS/Lambda,FunctionName} MetricName="${name}" FunctionName=${Stack.of(scope).stackName}`, 'Sum')
}

/** Lines that CloudWatch searches when it draws the graph. */
function searched(search: string, statistic: string): IMetric {
  return new MathExpression({
    expression: `SEARCH('${search}', '${statistic}', ${PERIOD.toSeconds()})`,
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
