import { Duration, Stack } from 'aws-cdk-lib'
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { Topic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { CLOUDFRONT_REGION } from '../config/platform-facts.ts'
import type { AdminApi } from './admin-api.ts'
import { type AlarmDefinition, createAlarmsWithTopic } from './alarm-definition.ts'
import { factAlarms } from './fact-alarms.ts'
import { type GatewayApi, MEASURED_ROUTE } from './gateway-api.ts'
import { functionsBelow } from './gateway-function.ts'
import type { JobTable } from './job-table.ts'
import { frontDoorAlarm, ServiceMetrics, sumOfMetrics } from './metrics.ts'
import type { ReconcileSchedule } from './reconcile-schedule.ts'
import { type RelayWebFunction, relayAlarms } from './relay-web-function.ts'
import type { VideoPipeline } from './video-pipeline.ts'

const MINUTES = 5

/** Alarms on the functions of the console, whose errors would be lost in those of the API. The runbook explains each threshold. */
export function consoleAlarms(adminApi: AdminApi, metrics: ServiceMetrics): readonly AlarmDefinition[] {
  const period = Duration.minutes(MINUTES)
  const crashes = functionsBelow(adminApi).map((each) => each.function.metricErrors({ period }))
  return [
    {
      name: 'ConsoleErrors',
      meaning: 'Requests of the console end with an internal error.',
      metric: sumOfMetrics([metrics.sum('console_failed', MINUTES), ...crashes], period),
      threshold: 3,
    },
    {
      name: 'SignInsRefused',
      meaning: 'Sign-ins to the console keep failing.',
      metric: metrics.sum('sign_in_refused', MINUTES),
      threshold: 50,
    },
  ]
}

const PERIOD = Duration.minutes(5)

/** Fewer errors of the API in a period are no share of anything. */
const ERRORS_MIN = 5

/**
 * CheckReferences throws to refuse a reference and Store to be retried. A job that fails by any other error counts as
 * `internal_failure`.
 */
const THROWING_BY_DESIGN = new Set(['check-references', 'store-video'])

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
  return [
    {
      name: 'ApiErrors',
      meaning: 'The API answers one request in a hundred or more with a 5xx.',
      metric: new MathExpression({
        expression: `IF(errors >= ${ERRORS_MIN}, 100 * errors / requests, 0)`,
        usingMetrics: { errors, requests },
        label: '5xx, percent',
        period: PERIOD,
      }),
      threshold: 1,
      unit: '%',
      minimum: `and at least ${ERRORS_MIN}`,
      isRollbackTrigger: true,
    },
    {
      name: 'SlowReads',
      meaning: 'Fetching a job, which involves no upstream, takes seconds.',
      metric: jobReadLatency(api),
      threshold: 3000,
      unit: 'ms',
      periods: 3,
      isRollbackTrigger: true,
    },
  ]
}

/** The latency of the operation that clients poll, which depends on the table only. */
function jobReadLatency({ restApi }: GatewayApi): Metric {
  const { path, method } = MEASURED_ROUTE
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
    {
      name: 'StepErrors',
      meaning: 'Submit, Poll, Settle, Fail or Notify keeps failing.',
      metric: sumOfMetrics(
        steady.map(([, step]) => step.function.metricErrors({ period: PERIOD })),
        PERIOD,
      ),
      threshold: 5,
      isRollbackTrigger: true,
    },
    throttleAlarm(Object.values(functions).map((step) => step.function.metricThrottles({ period: PERIOD }))),
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

/** What every kind of request begins with: each operation more is a metric more, and DynamoDB seldom fails in one alone. */
const TABLE_OPERATIONS = ['GetItem', 'Query', 'TransactWriteItems']

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

/** Fewer throttled steps only wait: the state machine retries each of them for five minutes. */
const THROTTLED_STEPS = 50

/**
 * One alarm on the throttles of all functions of the account in this region, because they share one pool of concurrency: a metric for
 * each function would cost more than all other alarms. Steps count from fifty on.
 */
function throttleAlarm(steps: readonly Metric[]): AlarmDefinition {
  const all = new Metric({ namespace: 'AWS/Lambda', metricName: 'Throttles', statistic: 'Sum', period: PERIOD })
  const ofSteps = Object.fromEntries(steps.map((metric, index) => [`step${index}`, metric]))
  const waiting = Object.keys(ofSteps)
    .map((id) => `FILL(${id}, 0)`)
    .join(' + ')
  return {
    name: 'FunctionsThrottled',
    meaning: 'Lambda throttles functions: the concurrency of the account or of a function is used up.',
    metric: new MathExpression({
      expression: `FILL(all, 0) - (${waiting}) * ((${waiting}) < ${THROTTLED_STEPS})`,
      usingMetrics: { all, ...ofSteps },
      period: PERIOD,
    }),
    threshold: 1,
  }
}

type ServiceAlarmsProps = WatchedService & {
  readonly config: GatewayConfig
  /** Is subscribed to the topic. */
  readonly email?: string | undefined
}

/**
 * All alarms of the service, with one topic for their beginnings and ends and for the alerts of Reconcile. The description of each
 * alarm links to its entry in the runbook.
 */
export class ServiceAlarms extends Construct {
  readonly topic: Topic
  readonly definitions: readonly AlarmDefinition[]
  /** Options of `cdk deploy` that let CloudFormation roll back by alarms. The command wants its option once for each ARN. */
  readonly rollbackOptions: string

  constructor(scope: Construct, id: string, { config, email, ...service }: ServiceAlarmsProps) {
    super(scope, id)
    const metrics = new ServiceMetrics(this)
    const { adminApi, distribution, relay } = service
    this.definitions = [
      ...factAlarms(metrics, config),
      ...platformAlarms(service),
      ...(adminApi === undefined ? [] : consoleAlarms(adminApi, metrics)),
      ...(relay === undefined ? [] : relayAlarms(relay)),
      // A stage in another region has this alarm in the stack of its front door.
      ...(distribution !== undefined && Stack.of(this).region === CLOUDFRONT_REGION
        ? [frontDoorAlarm(distribution.distributionId)]
        : []),
    ]
    const { topic, rollbackTriggers } = createAlarmsWithTopic(this, this.definitions, email)
    this.topic = topic
    service.reconcile.publishAlertsTo(topic)
    this.rollbackOptions = rollbackTriggers.map((arn) => `--rollback-trigger-alarm-arns ${arn}`).join(' ')
  }
}

/** The constructs that alarms and dashboard watch. */
export type WatchedService = {
  readonly api: GatewayApi
  readonly pipeline: VideoPipeline
  readonly reconcile: ReconcileSchedule
  readonly table: JobTable
  /** Undefined without the console. */
  readonly adminApi?: AdminApi | undefined
  /** The front door; undefined without the console. */
  readonly distribution?: Distribution | undefined
  /** The Web Function of relayed requests; undefined where functions relay them all. */
  readonly relay?: RelayWebFunction | undefined
}
