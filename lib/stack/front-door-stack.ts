import {
  Annotations,
  Aspects,
  BootstraplessSynthesizer,
  CfnOutput,
  type IStackSynthesizer,
  Stack,
  Validations,
} from 'aws-cdk-lib'
import { CfnWebACL } from 'aws-cdk-lib/aws-wafv2'
import type { Construct } from 'constructs'
import { CLOUDFRONT_REGION, frontDoorStackName } from '../config/platform-facts.ts'
import type { StageSettings } from '../config/stage-settings.ts'
import { FRONT_DOOR_ERRORS } from './alarm-definitions.ts'
import { LogLifetime, logFrontDoor } from './logs.ts'
import { createAlarms } from './service-alarms.ts'
import { floodRule, hidden, inOrder, managedRules, REFUSAL_BODIES, visibility } from './web-acl.ts'

type FrontDoorStackProps = {
  readonly settings: Pick<
    StageSettings,
    'stage' | 'frontDoor' | 'frontDoorLog' | 'waf' | 'alarms' | 'alarmEmail' | 'retainsData' | 'logRetentionDays'
  >
  /** Undefined for the account of the credentials. */
  readonly account: string | undefined
}

/**
 * What AWS has in us-east-1 alone for the front door of a stage in any region: a web ACL with the rules of the API's, if the settings have one,
 * and, once the distribution is known, its log and the alarm on its metrics. It has no assets, and so needs no `cdk bootstrap` there.
 */
export class FrontDoorStack extends Stack {
  constructor(scope: Construct, { settings, account }: FrontDoorStackProps) {
    const stackName = frontDoorStackName(settings.stage)
    // The class types properties as possibly undefined, the interface as optional, which exactOptionalPropertyTypes separates.
    const synthesizer = new BootstraplessSynthesizer() as IStackSynthesizer
    super(scope, stackName, {
      description: 'Reelgate: web ACL, log and alarm of the front door',
      synthesizer,
      env: { region: CLOUDFRONT_REGION, ...(account === undefined ? {} : { account }) },
    })
    const {
      alarms,
      alarmEmail,
      frontDoorLog,
      waf,
      retainsData: outlivesStack,
      logRetentionDays: retentionDays,
    } = settings
    const distributionId = settings.frontDoor?.distributionId
    Aspects.of(this).add(new LogLifetime({ retentionDays, outlivesStack }))
    if (waf !== undefined) {
      this.#addWebAcl(stackName, waf.requestsPerAddressInFiveMinutes)
    } else if (distributionId === undefined || !(frontDoorLog || alarms)) {
      this.#refuseDeployment()
    }
    if (distributionId === undefined) {
      return
    }
    if (frontDoorLog) {
      logFrontDoor(this, distributionId)
    }
    if (alarms) {
      const watched = { distribution: { distributionId } }
      const { topic } = createAlarms(this, { records: [FRONT_DOOR_ERRORS], watched, email: alarmEmail })
      new CfnOutput(this, 'AlarmTopicArn', { value: topic.topicArn })
    }
  }

  /** Not by throwing: `cdk destroy` passes over an annotation, and so removes the stack of a stage whose settings are gone. */
  #refuseDeployment(): void {
    const reason =
      'the stack of the front door has nothing to deploy: give -c frontDoorDistributionId=<FrontDoorDistributionId> of a stage with log or alarms, or -c waf=on'
    // What CDK itself says of an empty stack.
    Validations.of(this).acknowledge({ id: 'CloudFormation-Validate::F0001', reason })
    Annotations.of(this).addError(reason)
  }

  #addWebAcl(name: string, requestsPerAddressInFiveMinutes: number): void {
    const acl = new CfnWebACL(this, 'Acl', {
      scope: 'CLOUDFRONT',
      description: 'Reelgate front door',
      defaultAction: { allow: {} },
      rules: inOrder([floodRule({ requestsPerAddressInFiveMinutes, isOpenToBrowsers: true }), ...managedRules()]),
      customResponseBodies: REFUSAL_BODIES,
      dataProtectionConfig: hidden(['cookie']),
      visibilityConfig: visibility(name),
    })
    new CfnOutput(this, 'WebAclArn', { value: acl.attrArn })
  }
}
