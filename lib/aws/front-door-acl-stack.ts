import { BootstraplessSynthesizer, CfnOutput, type IStackSynthesizer, Stack } from 'aws-cdk-lib'
import { CfnWebACL } from 'aws-cdk-lib/aws-wafv2'
import type { Construct } from 'constructs'
import { FRONT_DOOR_ACL_REGION, frontDoorAclStackName } from '../config/stack-name.ts'
import type { StageSettings } from '../config/stage-settings.ts'
import { hidden, inOrder } from './web-acl.ts'
import { floodRule, managedRules, REFUSAL_BODIES, visibility } from './web-acl-rules.ts'

type FrontDoorAclStackProps = {
  readonly settings: Pick<StageSettings, 'stage'>
  readonly requestsPerAddressInFiveMinutes: number
  /** Undefined for the account of the credentials. */
  readonly account: string | undefined
}

/**
 * A web ACL for the front door of one stage, with the rules of the API's. Web ACLs of distributions are in us-east-1, so it is a stack
 * of its own. It has no assets, and so needs no `cdk bootstrap` there.
 */
export class FrontDoorAclStack extends Stack {
  constructor(scope: Construct, { settings, requestsPerAddressInFiveMinutes, account }: FrontDoorAclStackProps) {
    const stackName = frontDoorAclStackName(settings.stage)
    // The class types properties as possibly undefined, the interface as optional, which exactOptionalPropertyTypes separates.
    const synthesizer = new BootstraplessSynthesizer() as IStackSynthesizer
    super(scope, stackName, {
      description: 'Reelgate: web ACL of the front door',
      synthesizer,
      env: { region: FRONT_DOOR_ACL_REGION, ...(account === undefined ? {} : { account }) },
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
  }
}
