import { Stack } from 'aws-cdk-lib'
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { CLOUDFRONT_REGION } from '../config/platform-facts.ts'
import type { AdminApi } from './admin-api.ts'
import { type GatewayApi, MEASURED_ROUTE } from './gateway-api.ts'
import { functionsBelow } from './gateway-function.ts'
import type { JobTable } from './job-table.ts'
import {
  filledSum,
  frontDoorMetric,
  functionMetric,
  type MetricName,
  sumOfMetrics,
  tableMetric,
  type Window,
} from './metrics.ts'
import type { ReconcileSchedule } from './reconcile-schedule.ts'
import type { RelayWebFunction } from './relay-web-function.ts'
import type { VideoPipeline } from './video-pipeline.ts'

/** The constructs that alarms and dashboard watch. */
export type WatchedService = {
  readonly api: GatewayApi
  readonly pipeline: VideoPipeline
  readonly reconcile: ReconcileSchedule
  readonly table: JobTable
  /** Undefined without the console. */
  readonly adminApi: AdminApi | undefined
  /** The front door; undefined without the console. */
  readonly distribution: Distribution | undefined
  /** The Web Function of relayed requests; undefined where functions relay them all. */
  readonly relay: RelayWebFunction | undefined
}

/** What a record says of its metric, besides the name. */
type Measuring = Window & Pick<AlarmDefinition, 'channel' | 'wholeMin' | 'partMin'>

/**
 * An alarm: a condition that a person must look at. The stack, the table and the entries of the runbook are made of these records.
 * `Watched` is what the alarm needs to exist.
 */
export type AlarmDefinition<Watched = WatchedService> = {
  /** In PascalCase; also the heading of its entry in the runbook. */
  readonly name: string
  /** The channel of an alarm on one channel; part of the name and of the description. */
  readonly channel?: string
  /** One sentence about the event. */
  readonly meaning: string
  /** What is compared with the threshold; undefined in a stage that has nothing to watch. */
  readonly metric: (watched: Watched, measuring: Measuring) => IMetric | undefined
  /** Of the metric, over a period; the sum by default. */
  readonly statistic?: 'Maximum' | 'p99'
  /** Length of a period; five by default. */
  readonly minutes?: number
  /** The alarm triggers at this value and above. */
  readonly threshold: number
  /** Of the threshold; a plain number by default. */
  readonly unit?: '%' | 's' | 'ms'
  /** Of a share: the least whole of a period. Below it one failure would be a large share. */
  readonly wholeMin?: number
  /** Of a share: the least part of a period. Fewer are no share of anything. */
  readonly partMin?: number
  /** Number of consecutive periods at the threshold; one by default. */
  readonly periods?: number
  /**
   * Triggers below the threshold, and if data are missing. A new alarm starts in INSUFFICIENT_DATA and does not notify anyone
   * until data have arrived once and stopped again.
   */
  readonly isSilenceBad?: boolean
  /** Rolls back a deployment that asks for it: what a bad release does at once, whatever its traffic. Five at most. */
  readonly isRollbackTrigger?: boolean
}

const MINUTES = 5

/** The length of a period of an alarm. */
export function minutesOf({ minutes = MINUTES }: Pick<AlarmDefinition, 'minutes'>): number {
  return minutes
}

/** The runbook. Each alarm has an entry under its name. */
export const RUNBOOK = 'docs/runbook.md'

/** The anchor of the entry of an alarm in the runbook. */
export function anchorOf({ name }: Pick<AlarmDefinition, 'name'>): string {
  return `#${name.toLowerCase()}`
}

/** When an alarm rings, such as `10 % of at least 20 in 5 min, 2 periods in a row`. */
export function conditionOf(alarm: Omit<AlarmDefinition, 'metric'>): string {
  const { statistic, threshold, unit, wholeMin, partMin, periods = 1, isSilenceBad } = alarm
  return [
    isSilenceBad ? 'below ' : '',
    statistic === undefined ? '' : `${statistic.replace('Maximum', 'maximum')} `,
    threshold.toLocaleString('en'),
    unit === undefined ? '' : ` ${unit}`,
    wholeMin === undefined ? '' : ` of at least ${wholeMin}`,
    partMin === undefined ? '' : ` and at least ${partMin}`,
    ` in ${minutesOf(alarm)} min`,
    periods === 1 ? '' : `, ${periods} periods in a row`,
  ].join('')
}

/** A metric of the functions. */
function counted(name: MetricName): AlarmDefinition['metric'] {
  return ({ api }, { statistic, period, channel }) => functionMetric(api, name, { statistic, period, channel })
}

/** A part as a percentage of its whole. Missing data count as 0. */
function share(part: MetricName, of: readonly MetricName[]): AlarmDefinition['metric'] {
  return ({ api }, { statistic, period, wholeMin = 0 }) => {
    const whole = `(${filledSum(of)})`
    return new MathExpression({
      expression: `IF(${whole} >= ${wholeMin}, 100 * FILL(${part}, 0) / ${whole}, 0)`,
      usingMetrics: Object.fromEntries(
        [part, ...of].map((name) => [name, functionMetric(api, name, { statistic, period })]),
      ),
      label: `${part} of ${of.join(' + ')}, percent`,
      period,
    })
  }
}

/** Every alarm that a service with this configuration can have, in the order of the runbook. */
export function alarmDefinitions(
  config: Pick<GatewayConfig, 'channels' | 'queue_minutes'>,
): readonly AlarmDefinition[] {
  return [
    ...SINGLE_FACTS,
    ...config.channels.map(({ id }) => ({ ...CHANNEL_FAULT, channel: id })),
    ...MONEY,
    ...JOBS,
    ...UPSTREAMS,
    { ...OLDEST_JOB, threshold: longestJobSeconds(config) },
    ...RECONCILE_FACTS,
    ...API,
    ...PIPELINE,
    ...RECONCILE_FUNCTION,
    ...TABLE,
    ...CONSOLE,
    ...RELAY,
    // A stage in another region has this alarm in the stack of its front door.
    {
      ...FRONT_DOOR_ERRORS,
      metric: (watched, measuring) =>
        Stack.of(watched.api).region === CLOUDFRONT_REGION ? FRONT_DOOR_ERRORS.metric(watched, measuring) : undefined,
    },
  ]
}

/** One of these is enough; the log line names the fact (`SHARED_METRICS` of `lambdas/core/measures.ts`). */
const SINGLE_FACTS: readonly AlarmDefinition[] = [
  {
    name: 'ServiceFault',
    meaning: 'A job failed with an unexpected error, or a reservation was resolved a second time, differently.',
    metric: counted('service_fault'),
    threshold: 1,
  },
  {
    name: 'Irregularity',
    meaning: 'An upstream may be making a video for no job, an alert was not delivered, or a count was corrected.',
    metric: counted('irregularity'),
    threshold: 1,
  },
]

const CHANNEL_FAULT: AlarmDefinition = {
  name: 'ChannelFault',
  meaning: 'An upstream refuses a channel, or replies with what the gateway does not accept.',
  metric: counted('channel_fault'),
  threshold: 1,
}

const MONEY: readonly AlarmDefinition[] = [
  {
    name: 'Overdraft',
    meaning: 'Bills exceeded their reservations, so balances can fall below zero.',
    metric: counted('overdraft'),
    threshold: 5,
    minutes: 60,
  },
  {
    name: 'UsageRefused',
    meaning: 'An upstream reported invalid usage; the reservations were billed instead.',
    metric: counted('usage_refused'),
    threshold: 3,
    minutes: 60,
  },
  {
    name: 'BilledAtEstimate',
    meaning: 'A quarter of the bills are estimates, because upstreams reported no valid usage.',
    metric: share('billed_at_estimate', ['jobs_succeeded', 'relay_succeeded']),
    threshold: 25,
    unit: '%',
    wholeMin: 20,
    minutes: 60,
  },
  {
    name: 'ReservationsExpired',
    meaning: 'Reservations of relayed requests that were never settled were released.',
    metric: counted('reservation_expired'),
    threshold: 5,
    minutes: 15,
  },
]

const JOBS: readonly AlarmDefinition[] = [
  {
    name: 'JobsFailing',
    meaning: 'Half of the finished video jobs failed.',
    metric: share('jobs_failed', ['jobs_succeeded', 'jobs_failed']),
    threshold: 50,
    unit: '%',
    wholeMin: 10,
    minutes: 30,
  },
  {
    name: 'LateTasks',
    meaning: 'Jobs reached their deadlines before their upstream finished.',
    metric: counted('late_upstream_task'),
    threshold: 5,
    minutes: 60,
  },
  {
    name: 'StoreFailed',
    meaning: 'Finished videos could not be fetched or stored; each is retried for an hour.',
    metric: counted('store_failed'),
    threshold: 5,
    minutes: 15,
  },
  {
    name: 'CallbacksFailing',
    meaning: 'Half of the callbacks were not delivered.',
    metric: share('callback_failed', ['callback_delivered', 'callback_failed']),
    threshold: 50,
    unit: '%',
    wholeMin: 20,
    minutes: 60,
  },
]

const UPSTREAMS: readonly AlarmDefinition[] = [
  {
    name: 'UpstreamUnreachable',
    meaning: 'Connections to an upstream keep failing.',
    metric: counted('upstream_connect_error'),
    threshold: 10,
    periods: 3,
  },
  {
    name: 'RelayFailing',
    meaning: 'A tenth of the relayed requests fail.',
    metric: share('relay_failed', ['relay_succeeded', 'relay_failed']),
    threshold: 10,
    unit: '%',
    wholeMin: 20,
    periods: 2,
  },
]

const OLDEST_JOB: Omit<AlarmDefinition, 'threshold'> = {
  name: 'OldestJob',
  meaning: 'A video job has been open for longer than queueing, generating and storing can take.',
  metric: counted('oldest_open_job_seconds'),
  statistic: 'Maximum',
  unit: 's',
  minutes: 15,
}

/** Store gives up an hour after the end of the generation (`GIVE_UP_SECONDS` of `lambdas/pipeline/store-video/store-video.ts`). */
const STORE_MINUTES = 60
/** Reconcile checks an open job every ten minutes; the rest is for retries and the last steps. */
const MARGIN_MINUTES = 30

/** For the slowest channel of the configuration. */
function longestJobSeconds({ queue_minutes, channels }: Pick<GatewayConfig, 'channels' | 'queue_minutes'>): number {
  const deadlines = channels.map((channel) => ('deadline_minutes' in channel ? channel.deadline_minutes : 0))
  return (queue_minutes + Math.max(0, ...deadlines) + STORE_MINUTES + MARGIN_MINUTES) * 60
}

const RECONCILE_FACTS: readonly AlarmDefinition[] = [
  {
    name: 'OldestRequest',
    meaning: 'A relayed request still holds its reservation, although Reconcile should have released it.',
    metric: counted('oldest_open_request_seconds'),
    statistic: 'Maximum',
    // Reconcile runs every minute and releases a relayed request after 16 minutes.
    threshold: 30 * 60,
    unit: 's',
    minutes: 15,
  },
  {
    name: 'ReconcileItems',
    meaning: 'Reconcile keeps failing on the same reservations or deletions.',
    metric: counted('reconcile_failed'),
    threshold: 1,
    periods: 3,
  },
  {
    name: 'SummaryNotWritten',
    meaning: 'Reconcile could not write the summary of all tenants, so pages of the console are old.',
    metric: counted('summary_not_written'),
    threshold: 3,
    periods: 2,
  },
  {
    name: 'ExecutionsRestarted',
    meaning: 'Reconcile restarted executions that were missing or broken.',
    metric: counted('execution_restarted'),
    threshold: 3,
    minutes: 15,
  },
]

const API: readonly AlarmDefinition[] = [
  {
    name: 'ApiErrors',
    meaning: 'The API answers one request in a hundred or more with a 5xx.',
    metric: ({ api: { restApi } }, { statistic, period, partMin }) =>
      new MathExpression({
        expression: `IF(errors >= ${partMin}, 100 * errors / requests, 0)`,
        usingMetrics: {
          errors: restApi.metricServerError({ statistic, period }),
          requests: restApi.metricCount({ statistic, period }),
        },
        label: '5xx, percent',
        period,
      }),
    threshold: 1,
    unit: '%',
    partMin: 5,
    isRollbackTrigger: true,
  },
  {
    name: 'SlowReads',
    meaning: 'Fetching a job, which involves no upstream, takes seconds.',
    metric: ({ api: { restApi } }, { statistic, period }) =>
      new Metric({
        namespace: 'AWS/ApiGateway',
        metricName: 'Latency',
        dimensionsMap: {
          ApiName: restApi.restApiName,
          Stage: restApi.deploymentStage.stageName,
          Method: MEASURED_ROUTE.method,
          Resource: MEASURED_ROUTE.path,
        },
        statistic,
        period,
      }),
    statistic: 'p99',
    threshold: 3000,
    unit: 'ms',
    periods: 3,
    isRollbackTrigger: true,
  },
]

/**
 * CheckReferences throws to refuse a reference and Store to be retried. A job that fails by any other error counts as
 * `internal_failure`.
 */
const THROWING_BY_DESIGN: ReadonlySet<string> = new Set(['check-references', 'store-video'])

/** Fewer throttled steps only wait: the state machine retries each of them for five minutes. */
const THROTTLED_STEPS = 50

const PIPELINE: readonly AlarmDefinition[] = [
  {
    name: 'ExecutionsEndedBadly',
    meaning: 'Executions ended without resolving their jobs.',
    metric: ({ pipeline: { stateMachine } }, { statistic, period }) => {
      const window = { statistic, period }
      return sumOfMetrics(
        [stateMachine.metricFailed(window), stateMachine.metricTimedOut(window), stateMachine.metricAborted(window)],
        period,
      )
    },
    threshold: 1,
  },
  {
    name: 'StepErrors',
    meaning: 'Submit, Poll, Settle, Fail or Notify keeps failing.',
    metric: ({ pipeline: { functions } }, { period }) => {
      const steady = [...functions].filter(([name]) => !THROWING_BY_DESIGN.has(name))
      return sumOfMetrics(
        steady.map(([, step]) => step.function.metricErrors({ period })),
        period,
      )
    },
    threshold: 5,
    isRollbackTrigger: true,
  },
  {
    // All functions of the account share one pool of concurrency: a metric for each would cost more than all other alarms.
    name: 'FunctionsThrottled',
    meaning: 'Lambda throttles functions: the concurrency of the account or of a function is used up.',
    metric: ({ pipeline }, { statistic, period }) => {
      const all = new Metric({ namespace: 'AWS/Lambda', metricName: 'Throttles', statistic, period })
      const steps = Object.fromEntries(
        [...pipeline.functions.values()].map((step, index) => [
          `step${index}`,
          step.function.metricThrottles({ period }),
        ]),
      )
      const waiting = `(${filledSum(Object.keys(steps))})`
      return new MathExpression({
        expression: `FILL(all, 0) - ${waiting} * (${waiting} < ${THROTTLED_STEPS})`,
        usingMetrics: { all, ...steps },
        period,
      })
    },
    threshold: 1,
  },
]

const RECONCILE_FUNCTION: readonly AlarmDefinition[] = [
  {
    name: 'DeadLetters',
    meaning: 'An event for Reconcile could not be delivered; the queue holds it.',
    metric: ({ reconcile }, { statistic, period }) =>
      reconcile.deadLetters.metricApproximateNumberOfMessagesVisible({ statistic, period }),
    statistic: 'Maximum',
    threshold: 1,
  },
  {
    name: 'ReconcileErrors',
    meaning: 'Run after run of Reconcile fails.',
    metric: ({ reconcile }, { period }) => reconcile.function.function.metricErrors({ period }),
    threshold: 3,
    isRollbackTrigger: true,
  },
  {
    name: 'ReconcileSilent',
    meaning: 'Reconcile is not running, so reservations may stay open.',
    metric: ({ reconcile }, { period }) => reconcile.function.function.metricInvocations({ period }),
    threshold: 1,
    periods: 2,
    isSilenceBad: true,
  },
]

/** What every kind of request begins with: each operation more is a metric more, and DynamoDB seldom fails in one alone. */
const TABLE_OPERATIONS = ['GetItem', 'Query', 'TransactWriteItems']

const TABLE: readonly AlarmDefinition[] = [
  {
    name: 'TableThrottled',
    meaning: 'DynamoDB throttles the table.',
    metric: ({ table }, { period }) =>
      sumOfMetrics(
        ['ReadThrottleEvents', 'WriteThrottleEvents'].map((name) => tableMetric(table, name, period)),
        period,
      ),
    threshold: 10,
  },
  {
    name: 'TableErrors',
    meaning: 'DynamoDB fails.',
    metric: ({ table }, { period }) =>
      sumOfMetrics(
        TABLE_OPERATIONS.map((operation) => tableMetric(table, 'SystemErrors', period, operation)),
        period,
      ),
    threshold: 5,
  },
]

const CONSOLE: readonly AlarmDefinition[] = [
  {
    name: 'ConsoleErrors',
    meaning: 'Requests of the console end with an internal error.',
    // Crashes and timeouts would be lost in the errors of the API.
    metric: ({ api, adminApi }, { statistic, period }) => {
      const crashes = adminApi && functionsBelow(adminApi).map((each) => each.function.metricErrors({ period }))
      const failed = functionMetric(api, 'console_failed', { statistic, period })
      return crashes && sumOfMetrics([failed, ...crashes], period)
    },
    threshold: 3,
  },
  {
    name: 'SignInsRefused',
    meaning: 'Sign-ins to the console keep failing.',
    metric: (service, measuring) => service.adminApi && counted('sign_in_refused')(service, measuring),
    threshold: 50,
  },
]

const RELAY: readonly AlarmDefinition[] = [
  {
    name: 'RelayServerErrors',
    meaning: 'With relay=web: one relayed request in a hundred or more ends with a 5xx.',
    metric: ({ relay }, { period, partMin }) => {
      const responses = relay && {
        succeeded: relay.responses('2XX', period),
        refused: relay.responses('4XX', period),
        failed: relay.responses('5XX', period),
      }
      const all = filledSum(Object.keys(responses ?? {}))
      return (
        responses &&
        new MathExpression({
          expression: `IF(FILL(failed, 0) >= ${partMin}, 100 * FILL(failed, 0) / (${all}), 0)`,
          usingMetrics: responses,
          label: '5xx, percent',
          period,
        })
      )
    },
    threshold: 1,
    unit: '%',
    partMin: 5,
    isRollbackTrigger: true,
  },
  {
    name: 'RelayNotStarting',
    meaning: 'With relay=web: a process of the relay server did not start.',
    metric: ({ relay }, { period }) => relay?.failedStarts(period),
    threshold: 1,
  },
]

/** Errors that viewers see, those of CloudFront itself included. For a stack in us-east-1, where CloudFront has its metrics. */
export const FRONT_DOOR_ERRORS: AlarmDefinition<{
  readonly distribution: Pick<Distribution, 'distributionId'> | undefined
}> = {
  name: 'FrontDoorErrors',
  meaning: 'The front door answers one request in twenty or more with a 5xx.',
  metric: ({ distribution }, { period, wholeMin }) =>
    distribution &&
    new MathExpression({
      expression: `IF(requests >= ${wholeMin}, errors, 0)`,
      usingMetrics: {
        errors: frontDoorMetric(distribution.distributionId, '5xxErrorRate', period),
        requests: frontDoorMetric(distribution.distributionId, 'Requests', period),
      },
      label: '5xx, percent',
      period,
    }),
  threshold: 5,
  unit: '%',
  wholeMin: 20,
  periods: 2,
}
