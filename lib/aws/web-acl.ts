import { Stack } from 'aws-cdk-lib'
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2'
import { Construct } from 'constructs'
import { FRONT_DOOR_HEADER } from '#core/http.ts'
import type { StageSettings } from '../config/stage-settings.ts'
import type { FrontDoorSecret } from './front-door-secret.ts'
import {
  type AclRule,
  CLOSED_BODIES,
  closedRule,
  floodRule,
  managedRules,
  REFUSAL_BODIES,
  viewerFloodRule,
  visibility,
} from './web-acl-rules.ts'

type WebAclProps = {
  /** The protected stage of API Gateway. */
  readonly stageArn: string
  readonly requestsPerAddressInFiveMinutes: number
  /** Lets scripts of any origin read the refusals. */
  readonly isOpenToBrowsers: boolean
  /** Undefined without the console. */
  readonly frontDoor?: (NonNullable<StageSettings['frontDoor']> & Pick<FrontDoorSecret, 'accepted'>) | undefined
}

/**
 * The web ACL of the API. It blocks bad addresses from AWS's list, known attacks, and floods from one address. A request through the
 * front door counts for its viewer, here or in the web ACL of the distribution.
 */
export class WebAcl extends Construct {
  constructor(scope: Construct, id: string, props: WebAclProps) {
    super(scope, id)
    const { frontDoor } = props
    const isClosed = frontDoor?.isApiClosed === true
    const acl = new CfnWebACL(this, 'Acl', {
      scope: 'REGIONAL',
      description: 'Reelgate API',
      defaultAction: { allow: {} },
      rules: inOrder([...addressRules(props), ...managedRules()]),
      customResponseBodies: { ...REFUSAL_BODIES, ...(isClosed ? CLOSED_BODIES : {}) },
      dataProtectionConfig: hidden(frontDoor === undefined ? [] : ['cookie', FRONT_DOOR_HEADER]),
      visibilityConfig: visibility(Stack.of(this).stackName),
    })
    new CfnWebACLAssociation(this, 'Association', { webAclArn: acl.attrArn, resourceArn: props.stageArn })
  }
}

/**
 * Sampled requests would show API keys to everyone with access to the console of AWS, and in their queries signed urls of videos and codes of
 * an OpenID provider.
 */
export function hidden(headers: readonly string[]): CfnWebACL.DataProtectionConfigProperty {
  const fields = [
    { fieldType: 'SINGLE_HEADER', fieldKeys: ['authorization', ...headers] },
    { fieldType: 'QUERY_STRING' },
  ]
  return { dataProtections: fields.map((field) => ({ field, action: 'SUBSTITUTION' })) }
}

/** The place of a rule is its priority. */
export function inOrder(rules: readonly AclRule[]): CfnWebACL.RuleProperty[] {
  return rules.map((rule, priority) => ({ ...rule, priority }))
}

/** A closed API has no requests beside those of the front door. */
function addressRules({ frontDoor, ...options }: WebAclProps): AclRule[] {
  if (frontDoor === undefined) {
    return [floodRule(options)]
  }
  const others = frontDoor.isApiClosed ? closedRule(frontDoor) : floodRule(options, frontDoor)
  return frontDoor.webAclArn === undefined ? [others, viewerFloodRule(options, frontDoor)] : [others]
}
