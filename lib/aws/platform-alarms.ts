import { Duration } from 'aws-cdk-lib'
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { isRelayed, ROUTES } from '#core/contract/routes.ts'
import type { AlarmDefinition } from './alarm-definition.ts'
import { alarmsOnSum } from './alarms-on-sum.ts'
import { type GatewayApi, MEASURED_OPERATION } from './gateway-api.ts'
import { functionsBelow, type GatewayFunction } from './gateway-function.ts'
import type { JobTable } from './job-table.ts'
import type { ReconcileSchedule } from './reconcile-schedule.ts'
import { sumOfMetrics } from './sum-of-metrics.ts'
import type { VideoPipeline } from './video-pipeline.ts'
import type { WatchedService } from './watched-service.ts'

const PERIOD = Duration.minutes(5)

/**
 * CheckReferences throws to refuse a reference and Store to be retried; Submit and Poll throw when a job fails in an execution
 * of an earlier definition. A job that fails by any other error counts as `internal_failure`.
 */
const THROWING_BY_DESIGN = new Set(['submit-video-job', 'check-references', 'poll-video-job', 'store-video'])

/** Alarms on metrics of AWS. The runbook explains each threshold. */
export function platformAlarms(service: WatchedService): readonly AlarmDefinition[] {
  return [
    ...apiAlarms(service.api),
    ...pipelineAlarms(service.pipeline),
    ...reconcileFunctionAlarms(service.reconcile),
    ...tableAlarms(service.table),
  ]
}

function apiAlarms(api: GatewayApi): readonly AlarmDefinition[] {
  const options = { period: PERIOD, statistic: 'Sum' }
  const errors = api.restApi.metricServerError(options)
  const requests = api.restApi.metricCount(options)
  const functions = functionsBelow(api)
  return [
    {
      name: 'ApiErrors',
      meaning: 'The API answers one request in a hundred or more with a 5xx.',
      metric: new MathExpression({
        expression: 'IF(errors >= 5, 100 * errors / requests, 0)',
        usingMetrics: { errors, requests },
        label: '5xx, percent',
        period: PERIOD,
      }),
      threshold: 1,
      isRollbackTrigger: true,
    },
    {
      name: 'SlowReads',
      meaning: 'Fetching a job, which involves no upstream, takes seconds.',
      metric: jobReadLatency(api),
      threshold: 3000,
      periods: 3,
      isRollbackTrigger: true,
    },
    ...throttleAlarms(
      { name: 'RelayThrottled', throttled: 'relayed requests', threshold: 1 },
      functions.filter(isRelaying),
    ),
    ...throttleAlarms(
      { name: 'ApiThrottled', throttled: 'requests of the API', threshold: 1 },
      functions.filter((each) => !isRelaying(each)),
    ),
  ]
}

/** The latency of the operation that clients poll, which depends on the table only. */
function jobReadLatency({ restApi }: GatewayApi): Metric {
  const { path, method } = requireRoute(MEASURED_OPERATION)
  return new Metric({
    namespace: 'AWS/ApiGateway',
    metricName: 'Latency',
    dimensionsMap: {
      ApiName: restApi.restApiName,
      Stage: restApi.deploymentStage.stageName,
      Method: method,
      Resource: path,
    },
    statistic: 'p99',
    period: PERIOD,
  })
}

function requireRoute(operation: string) {
  const route = ROUTES.find((each) => each.operation === operation)
  if (route === undefined) {
    throw new Error(`no route ${operation}`)
  }
  return route
}

function pipelineAlarms({ stateMachine, functions }: VideoPipeline): readonly AlarmDefinition[] {
  const options = { period: PERIOD, statistic: 'Sum' }
  const steady = Object.entries(functions).filter(([name]) => !THROWING_BY_DESIGN.has(name))
  return [
    {
      name: 'ExecutionsEndedBadly',
      meaning: 'Executions ended without resolving their jobs.',
      metric: sumOfMetrics(
        [stateMachine.metricFailed(options), stateMachine.metricTimedOut(options), stateMachine.metricAborted(options)],
        PERIOD,
      ),
      threshold: 1,
    },
    ...alarmsOnSum(
      { name: 'StepErrors', meaning: 'Settle, Fail or Notify keeps failing.', threshold: 5, isRollbackTrigger: true },
      steady.map(([, step]) => step.function.metricErrors({ period: PERIOD })),
      PERIOD,
    ),
    ...throttleAlarms(
      { name: 'PipelineThrottled', throttled: 'steps of video jobs', threshold: 50, periods: 2 },
      Object.values(functions),
    ),
  ]
}

function reconcileFunctionAlarms({ function: reconcile, deadLetters }: ReconcileSchedule): readonly AlarmDefinition[] {
  return [
    {
      name: 'DeadLetters',
      meaning: 'An event for Reconcile could not be delivered; the queue holds it.',
      metric: deadLetters.metricApproximateNumberOfMessagesVisible({ period: PERIOD, statistic: 'Maximum' }),
      threshold: 1,
    },
    {
      name: 'ReconcileErrors',
      meaning: 'Run after run of Reconcile fails.',
      metric: reconcile.function.metricErrors({ period: PERIOD }),
      threshold: 3,
      isRollbackTrigger: true,
    },
    {
      name: 'ReconcileSilent',
      meaning: 'Reconcile is not running, so reservations may stay open.',
      metric: reconcile.function.metricInvocations({ period: PERIOD }),
      threshold: 1,
      periods: 2,
      isSilenceBad: true,
    },
  ]
}

const TABLE_OPERATIONS = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'TransactWriteItems']

function tableAlarms({ name }: JobTable): readonly AlarmDefinition[] {
  const ofTable = (metricName: string, dimensions: Readonly<Record<string, string>> = {}) =>
    new Metric({
      namespace: 'AWS/DynamoDB',
      metricName,
      dimensionsMap: { TableName: name, ...dimensions },
      statistic: 'Sum',
      period: PERIOD,
    })
  return [
    {
      name: 'TableThrottled',
      meaning: 'DynamoDB throttles the table.',
      metric: sumOfMetrics([ofTable('ReadThrottleEvents'), ofTable('WriteThrottleEvents')], PERIOD),
      threshold: 10,
    },
    {
      name: 'TableErrors',
      meaning: 'DynamoDB fails.',
      metric: sumOfMetrics(
        TABLE_OPERATIONS.map((Operation) => ofTable('SystemErrors', { Operation })),
        PERIOD,
      ),
      threshold: 5,
    },
  ]
}

function isRelaying(each: GatewayFunction): boolean {
  return ROUTES.some((route) => isRelayed(route) && each.folder === `api/${route.operation}`)
}

type Throttling = {
  readonly name: string
  readonly throttled: string
  readonly threshold: number
  readonly periods?: number
}

function throttleAlarms({ throttled, ...kind }: Throttling, functions: readonly GatewayFunction[]) {
  const meaning = `Lambda throttles ${throttled}: the concurrency of the account or of a function is used up.`
  const throttles = functions.map(({ function: watched }) => watched.metricThrottles({ period: PERIOD }))
  return alarmsOnSum({ ...kind, meaning }, throttles, PERIOD)
}
