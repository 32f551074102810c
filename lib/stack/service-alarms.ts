import { Duration, Stack } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import type { Construct } from 'constructs'
import { type AlarmDefinition, anchorOf, minutesOf, RUNBOOK } from './alarm-definitions.ts'

type AlarmsProps<Watched> = {
  readonly records: readonly AlarmDefinition<Watched>[]
  readonly watched: Watched
  /** Is subscribed to the topic. */
  readonly email: string | undefined
}

type Alarms = {
  /** Of beginnings and ends; operators subscribe to it. */
  readonly topic: Topic
  /** Options of `cdk deploy` that let CloudFormation roll back by alarms. The command wants its option once for each ARN. */
  readonly rollbackOptions: string
}

/** Creates those alarms of a stack that have something to watch, with one topic for all. */
export function createAlarms<Watched>(scope: Construct, { records, watched, email }: AlarmsProps<Watched>): Alarms {
  const topic = new Topic(scope, 'Topic', { displayName: 'Reelgate alarms', enforceSSL: true })
  letAlarmsPublish(topic)
  const action = new SnsAction(topic)
  const rollbackOptions: string[] = []
  for (const record of records) {
    const alarm = createAlarm(scope, record, watched)
    if (alarm === undefined) {
      continue
    }
    alarm.addAlarmAction(action)
    alarm.addOkAction(action)
    if (record.isSilenceBad) {
      alarm.addInsufficientDataAction(action)
    }
    if (record.isRollbackTrigger) {
      rollbackOptions.push(`--rollback-trigger-alarm-arns ${alarm.alarmArn}`)
    }
  }
  if (email !== undefined) {
    topic.addSubscription(new EmailSubscription(email))
  }
  return { topic, rollbackOptions: rollbackOptions.join(' ') }
}

/** An alarm with the stack in its name and a link to its runbook entry in its description. */
function createAlarm<Watched>(scope: Construct, record: AlarmDefinition<Watched>, watched: Watched): Alarm | undefined {
  const { name, channel, meaning, threshold, periods = 1, isSilenceBad = false } = record
  const period = Duration.minutes(minutesOf(record))
  const metric = record.metric(watched, { statistic: 'Sum', ...record, period })
  if (metric === undefined) {
    return undefined
  }
  const id = channel === undefined ? name : `${name}-${channel}`
  const ofChannel = channel === undefined ? '' : ` Channel: ${channel}.`
  return new Alarm(scope, id, {
    alarmName: `${Stack.of(scope).stackName}-${id}`,
    alarmDescription: `${meaning}${ofChannel} Runbook: ${RUNBOOK}${anchorOf(record)}`,
    metric,
    threshold,
    evaluationPeriods: periods,
    comparisonOperator: isSilenceBad
      ? ComparisonOperator.LESS_THAN_THRESHOLD
      : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: isSilenceBad ? TreatMissingData.MISSING : TreatMissingData.NOT_BREACHING,
  })
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
