import { Duration, Stack } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, type IMetric, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import type { GatewayApi } from './gateway-api.ts'
import { METRICS_NAMESPACE } from './gateway-function.ts'
import type { ReconcileSchedule } from './reconcile-schedule.ts'
import type { VideoPipeline } from './video-pipeline.ts'

const PERIOD = Duration.minutes(5)
/** Retries absorb single failures of a task. */
const STEP_ERRORS = 5
/** These throw to say that a job fails, which is no fault of theirs; what they do not mean to throw ends as `internal_failure`. */
const THROWING_BY_DESIGN = new Set(['submit-video-job', 'poll-video-job', 'store-video'])
const API_ERRORS = 5
/** Facts that functions count and that a person must hear of at once, and what they mean. */
const ALARMING_FACTS = {
  internal_failure: 'A job failed by an error that no step means to throw; its reservation was released.',
  channel_refused: 'An upstream refuses a channel: its key, its balance or one of its models.',
  resolution_conflict: 'A reservation was to be resolved in two ways; the first one stands.',
  upstream_orphan:
    'A submit has an unknown outcome or came too late: an upstream may be generating what nobody will fetch.',
}
/** One failed run is made good by the next minute's. */
const RECONCILE_ERRORS = 3

type ServiceAlarmsProps = {
  readonly api: GatewayApi
  readonly pipeline: VideoPipeline
  readonly reconcile: ReconcileSchedule
}

/** What a person must look at, sent to one topic; whoever should hear of it subscribes. */
export class ServiceAlarms extends Construct {
  readonly topic: Topic

  constructor(scope: Construct, id: string, props: ServiceAlarmsProps) {
    super(scope, id)
    this.topic = new Topic(this, 'Topic', { displayName: 'Reelgate alarms', enforceSSL: true })
    this.#letAlarmsPublish()
    this.#watchPipeline(props.pipeline)
    this.#watchReconcile(props.reconcile)
    this.#watchFacts()
    this.#alarm(
      'ApiErrors',
      'The API answers 5xx.',
      props.api.restApi.metricServerError({ period: PERIOD, statistic: 'Sum' }),
      API_ERRORS,
    )
  }

  #watchPipeline({ stateMachine, functions }: VideoPipeline): void {
    const options = { period: PERIOD, statistic: 'Sum' }
    const endedBadly = new MathExpression({
      expression: 'failed + timedOut + aborted',
      usingMetrics: {
        failed: stateMachine.metricFailed(options),
        timedOut: stateMachine.metricTimedOut(options),
        aborted: stateMachine.metricAborted(options),
      },
      period: PERIOD,
    })
    this.#alarm('ExecutionsEndedBadly', 'Executions ended without having resolved their jobs.', endedBadly, 1)
    const watched = Object.entries(functions).filter(([name]) => !THROWING_BY_DESIGN.has(name))
    for (const [name, step] of watched) {
      this.#alarm(
        `Errors-${name}`,
        `The function ${name} fails again and again.`,
        step.function.metricErrors({ period: PERIOD }),
        STEP_ERRORS,
      )
    }
  }

  #watchReconcile({ function: reconcile, deadLetters }: ReconcileSchedule): void {
    const letters = deadLetters.metricApproximateNumberOfMessagesVisible({ period: PERIOD, statistic: 'Maximum' })
    this.#alarm('DeadLetters', 'An event for Reconcile was given up; the queue holds it.', letters, 1)
    this.#alarm(
      'ReconcileErrors',
      'Reconcile fails run after run.',
      reconcile.function.metricErrors({ period: PERIOD }),
      RECONCILE_ERRORS,
    )
    const silent = new Alarm(this, 'ReconcileSilent', {
      alarmDescription: 'Reconcile has not run: no reservation is guaranteed to end.',
      metric: reconcile.function.metricInvocations({ period: PERIOD }),
      threshold: 1,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      evaluationPeriods: 2,
      treatMissingData: TreatMissingData.BREACHING,
    })
    silent.addAlarmAction(new SnsAction(this.topic))
  }

  /** Metrics Insights sums over all functions and channels, whatever dimensions they counted with. */
  #watchFacts(): void {
    for (const [fact, meaning] of Object.entries(ALARMING_FACTS)) {
      const expression = `SELECT SUM(${fact}) FROM "${METRICS_NAMESPACE}"`
      this.#alarm(`Fact-${fact}`, meaning, new MathExpression({ expression, usingMetrics: {}, period: PERIOD }), 1)
    }
  }

  #alarm(id: string, description: string, metric: IMetric, threshold: number): void {
    const alarm = new Alarm(this, id, {
      alarmDescription: description,
      metric,
      threshold,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    })
    alarm.addAlarmAction(new SnsAction(this.topic))
  }

  /** A topic with a policy of its own loses the default one, which let the account's alarms in. */
  #letAlarmsPublish(): void {
    this.topic.addToResourcePolicy(
      new PolicyStatement({
        sid: 'AlarmsPublish',
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    )
  }
}
