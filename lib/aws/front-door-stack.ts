import { BootstraplessSynthesizer, CfnOutput, type IStackSynthesizer, Stack } from 'aws-cdk-lib'
import { CfnWebACL } from 'aws-cdk-lib/aws-wafv2'
import type { Construct } from 'constructs'
import { CLOUDFRONT_REGION, frontDoorStackName } from '../config/stack-name.ts'
import type { StageSettings } from '../config/stage-settings.ts'
import { createAlarmsWithTopic } from './alarm-topic.ts'
import { frontDoorAlarm } from './front-door-metrics.ts'
import { hidden, inOrder } from './web-acl.ts'
import { floodRule, managedRules, REFUSAL_BODIES, visibility } from './web-acl-rules.ts'

type FrontDoorStackProps = {
  readonly settings: Pick<StageSettings, 'stage' | 'frontDoor' | 'alarms' | 'alarmEmail'>
  readonly requestsPerAddressInFiveMinutes: number
  /** Undefined for the account of the credentials. */
  readonly account: string | undefined
}

/**
 * What AWS has in us-east-1 alone for the front door of a stage in any region: a web ACL with the rules of the API's, and the alarm on
 * CloudFront's metrics once the distribution is known. It has no assets, and so needs no `cdk bootstrap` there.
 */
export class FrontDoorStack extends Stack {
  constructor(scope: Construct, { settings, requestsPerAddressInFiveMinutes, account }: FrontDoorStackProps) {
    const stackName = frontDoorStackName(settings.stage)
    // The class types properties as possibly undefined, the interface as optional, which exactOptionalPropertyTypes separates.
    const synthesizer = new BootstraplessSynthesizer() as IStackSynthesizer
    super(scope, stackName, {
      description: 'Reelgate: web ACL and alarm of the front door',
      synthesizer,
      env: { region: CLOUDFRONT_REGION, ...(account === undefined ? {} : { account }) },
    })
    const acl = new CfnWebACL(this, 'Acl', {
      scope: 'CLOUDFRONT',
      description: 'Reelgate front door',
      defaultAction: { allow: {} },
      rules: inOrder([floodRule({ requestsPerAddressInFiveMinutes, isOpenToBrowsers: true }), ...managedRules()]),
      customResponseBodies: REFUSAL_BODIES,
      dataProtectionConfig: hidden(['cookie']),
      visibilityConfig: visibility(stackName),
    })
    new CfnOutput(this, 'WebAclArn', { value: acl.attrArn })
    const { alarms, alarmEmail, frontDoor } = settings
    if (alarms && frontDoor?.distributionId !== undefined) {
      const { topic } = createAlarmsWithTopic(this, [frontDoorAlarm(frontDoor.distributionId)], alarmEmail)
      new CfnOutput(this, 'AlarmTopicArn', { value: topic.topicArn })
    }
  }
}
