import { Stack } from 'aws-cdk-lib'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { createAlarm } from './alarm-definition.ts'
import { consoleAlarms } from './console-alarms.ts'
import { factAlarms } from './fact-alarms.ts'
import { platformAlarms, type WatchedService } from './platform-alarms.ts'
import { ServiceMetrics } from './service-metrics.ts'

type ServiceAlarmsProps = WatchedService & { readonly config: GatewayConfig }

/**
 * All alarms of the service, with one topic for their beginnings and ends. Operators subscribe to the topic. The description of each
 * alarm links to its entry in the runbook.
 */
export class ServiceAlarms extends Construct {
  readonly topic: Topic

  constructor(scope: Construct, id: string, { config, ...service }: ServiceAlarmsProps) {
    super(scope, id)
    this.topic = new Topic(this, 'Topic', { displayName: 'Reelgate alarms', enforceSSL: true })
    this.#letAlarmsPublish()
    const action = new SnsAction(this.topic)
    const metrics = new ServiceMetrics(this)
    const ofConsole = service.adminApi === undefined ? [] : consoleAlarms(service.adminApi, metrics)
    for (const definition of [...factAlarms(metrics, config), ...platformAlarms(service), ...ofConsole]) {
      const alarm = createAlarm(this, definition)
      alarm.addAlarmAction(action)
      alarm.addOkAction(action)
      if (definition.isSilenceBad) {
        alarm.addInsufficientDataAction(action)
      }
    }
  }

  /** A custom policy replaces the default policy, which allowed the alarms of the account. */
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
