import { Duration, Stack } from 'aws-cdk-lib'
import { Rule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { EventInvokeConfig } from 'aws-cdk-lib/aws-lambda'
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations'
import { Schedule, ScheduleExpression } from 'aws-cdk-lib/aws-scheduler'
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets'
import type { Topic } from 'aws-cdk-lib/aws-sns'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts'
import { RECONCILE_NEEDS, SUMMARY_ACCESS } from './function-needs.ts'
import type { GatewayFunction } from './gateway-function.ts'
import { createFunction, type ServiceResources } from './service-resources.ts'
import type { VideoPipeline } from './video-pipeline.ts'

const RECONCILE_MINUTES = 1
/** A scheduled run replaces an older event. */
const EVENT_AGE_HOURS = 1
const DEAD_LETTER_DAYS = 14

type ReconcileScheduleProps = {
  readonly resources: ServiceResources
  readonly pipeline: VideoPipeline
  /** Undefined in most stages: runs may overlap, because every write of Reconcile is conditional. */
  readonly reservedConcurrency: number | undefined
}

/**
 * Runs Reconcile every minute, and at once after an execution fails. The schedule is the guarantee; the events are best effort and
 * only save time.
 */
export class ReconcileSchedule extends Construct {
  readonly function: GatewayFunction
  readonly deadLetters: Queue
  /** Name of the schedule, with which an operator can check its state. */
  readonly scheduleName: string

  constructor(scope: Construct, id: string, props: ReconcileScheduleProps) {
    super(scope, id)
    const { frontDoor } = props.resources
    this.function = createFunction(this, 'Reconcile', props.resources, {
      folder: 'pipeline/reconcile',
      needs:
        frontDoor === undefined
          ? RECONCILE_NEEDS
          : { ...RECONCILE_NEEDS, table: [...RECONCILE_NEEDS.table, ...SUMMARY_ACCESS] },
      reservedConcurrency: props.reservedConcurrency,
    })
    if (frontDoor !== undefined) {
      this.function.setEnvironment({ CONSOLE_SUMMARY: 'stored' })
    }
    props.pipeline.grantStart(this.function)
    props.pipeline.grantDescribe(this.function)
    props.pipeline.grantList(this.function)
    this.deadLetters = new Queue(this, 'DeadLetters', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(DEAD_LETTER_DAYS),
    })
    acknowledge(this.deadLetters, 'This queue is the dead-letter queue.', 'SQS3')
    new EventInvokeConfig(this, 'Invocation', {
      function: this.function.function,
      maxEventAge: Duration.hours(EVENT_AGE_HOURS),
      retryAttempts: 1,
      onFailure: new SqsDestination(this.deadLetters),
    })
    this.scheduleName = this.#runEveryMinute().scheduleName
    this.#runWhenAnExecutionEndsBadly(props.pipeline.stateMachine.stateMachineArn)
  }

  /** Lets Reconcile publish alerts about budgets and balances to the topic of the alarms. */
  publishAlertsTo(topic: Topic): void {
    topic.grantPublish(this.function.function)
    this.function.setEnvironment({ ALERT_TOPIC_ARN: topic.topicArn })
  }

  #runEveryMinute(): Schedule {
    const role = new Role(this, 'ScheduleRole', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    })
    const target = new LambdaInvoke(this.function.function, {
      role,
      deadLetterQueue: this.deadLetters,
      maxEventAge: Duration.minutes(RECONCILE_MINUTES),
      retryAttempts: 0,
    })
    const schedule = new Schedule(this, 'EveryMinute', {
      description: 'Reelgate: finish what fell between two steps',
      schedule: ScheduleExpression.rate(Duration.minutes(RECONCILE_MINUTES)),
      target,
    })
    acknowledgeWildcard(
      role,
      'The scheduler may invoke this one function; the wildcard is its versions.',
      `${this.function.function.functionArn}:*`,
    )
    return schedule
  }

  #runWhenAnExecutionEndsBadly(stateMachineArn: string): void {
    new Rule(this, 'ExecutionEndedBadly', {
      description: 'Reelgate: an execution ended without having resolved its job',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: { status: ['FAILED', 'TIMED_OUT', 'ABORTED'], stateMachineArn: [stateMachineArn] },
      },
      targets: [
        new LambdaFunction(this.function.function, {
          deadLetterQueue: this.deadLetters,
          maxEventAge: Duration.hours(EVENT_AGE_HOURS),
          retryAttempts: 2,
        }),
      ],
    })
  }
}
