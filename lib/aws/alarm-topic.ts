import { Stack } from 'aws-cdk-lib'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import type { Construct } from 'constructs'
import { type AlarmDefinition, createAlarm } from './alarm-definition.ts'

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
