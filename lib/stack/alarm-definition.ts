import { Stack } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import type { Construct } from 'constructs'

/** An alarm: a condition that a person must look at. */
export type AlarmDefinition = {
  /** In PascalCase; also the heading of its entry in the runbook. */
  readonly name: string
  /** The channel of an alarm on one channel; part of the name and of the description. */
  readonly channel?: string
  /** One sentence about the event. */
  readonly meaning: string
  readonly metric: IMetric
  /** The alarm triggers at this value and above. */
  readonly threshold: number
  /** Of the threshold; a plain number by default. */
  readonly unit?: '%' | 's' | 'ms'
  /** Of a share: what else a period must have, such as `of at least 20`. */
  readonly minimum?: string
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

/** The runbook. Each alarm has an entry under its name. */
export const RUNBOOK = 'docs/runbook.md'

/** Creates an alarm with the stack in its name and a link to its runbook entry in its description. */
export function createAlarm(scope: Construct, definition: AlarmDefinition): Alarm {
  const { name, channel, meaning, metric, threshold, periods = 1, isSilenceBad = false } = definition
  const id = channel === undefined ? name : `${name}-${channel}`
  const ofChannel = channel === undefined ? '' : ` Channel: ${channel}.`
  return new Alarm(scope, id, {
    alarmName: `${Stack.of(scope).stackName}-${id}`,
    alarmDescription: `${meaning}${ofChannel} Runbook: ${RUNBOOK}#${name.toLowerCase()}`,
    metric,
    threshold,
    evaluationPeriods: periods,
    comparisonOperator: isSilenceBad
      ? ComparisonOperator.LESS_THAN_THRESHOLD
      : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: isSilenceBad ? TreatMissingData.MISSING : TreatMissingData.NOT_BREACHING,
  })
}

type AlarmsWithTopic = {
  readonly topic: Topic
  /** ARNs of the alarms that roll a deployment back. */
  readonly rollbackTriggers: readonly string[]
}

/** Creates alarms with one topic for their beginnings and ends, to which operators subscribe. */
export function createAlarmsWithTopic(
  scope: Construct,
  definitions: readonly AlarmDefinition[],
  email: string | undefined,
): AlarmsWithTopic {
  const topic = new Topic(scope, 'Topic', { displayName: 'Reelgate alarms', enforceSSL: true })
  letAlarmsPublish(topic)
  const action = new SnsAction(topic)
  const rollbackTriggers: string[] = []
  for (const definition of definitions) {
    const alarm = createAlarm(scope, definition)
    alarm.addAlarmAction(action)
    alarm.addOkAction(action)
    if (definition.isSilenceBad) {
      alarm.addInsufficientDataAction(action)
    }
    if (definition.isRollbackTrigger) {
      rollbackTriggers.push(alarm.alarmArn)
    }
  }
  if (email !== undefined) {
    topic.addSubscription(new EmailSubscription(email))
  }
  return { topic, rollbackTriggers }
}

/** A custom policy replaces the default policy, which allowed the alarms of the account. */
function letAlarmsPublish(topic: Topic): void {
  topic.addToResourcePolicy(
    new PolicyStatement({
      sid: 'AlarmsPublish',
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(topic).account } },
    }),
  )
}
