import { Stack } from 'aws-cdk-lib'
import type { Topic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { CLOUDFRONT_REGION } from '../config/platform-facts.ts'
import type { AlarmDefinition } from './alarm-definition.ts'
import { createAlarmsWithTopic } from './alarm-topic.ts'
import { consoleAlarms } from './console-alarms.ts'
import { factAlarms } from './fact-alarms.ts'
import { frontDoorAlarm } from './front-door-metrics.ts'
import { platformAlarms } from './platform-alarms.ts'
import { relayAlarms } from './relay-web-function.ts'
import { ServiceMetrics } from './service-metrics.ts'
import type { WatchedService } from './watched-service.ts'

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
