import { Stack } from 'aws-cdk-lib'
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2'
import { Construct } from 'constructs'
import { gatewayErrorBody } from '#core/api/api-gateway.ts'
import { PLATFORM_CROSS_ORIGIN } from '#core/api/cross-origin.ts'
import { FRONT_DOOR_HEADER, VIEWER_ADDRESS_HEADER } from '#core/http.ts'
import type { StageSettings } from '../config/stage-settings.ts'
import { RATE_LIMITED } from './gateway-error-responses.ts'
import type { FrontDoorSecret } from './secrets.ts'

/** A rule without its priority, which is its place in the web ACL. */
export type AclRule = Omit<CfnWebACL.RuleProperty, 'priority'>

/** What a rule needs to recognise requests that came through the front door. */
export type FrontDoorValues = {
  /** Values of the front door's header, at least one. */
  readonly accepted: readonly string[]
}

type FloodOptions = {
  readonly requestsPerAddressInFiveMinutes: number
  /** Lets scripts of any origin read the refusals. */
  readonly isOpenToBrowsers: boolean
}

const FIVE_MINUTES_SECONDS = 300
/** WAF evaluates rates every few seconds, so an address is usually allowed again half a minute after it slows down. */
const RETRY_AFTER_SECONDS = 30
const RATE_LIMITED_BODY = 'rate-limited'
const CLOSED_BODY = 'closed'

/** Bodies of the refusals, in the error shape of OpenAI. */
export const REFUSAL_BODIES: Readonly<Record<string, CfnWebACL.CustomResponseBodyProperty>> = {
  [RATE_LIMITED_BODY]: { contentType: 'APPLICATION_JSON', content: gatewayErrorBody(RATE_LIMITED) },
}

/** The body of {@link closedRule}, beside {@link REFUSAL_BODIES}. */
export const CLOSED_BODIES: typeof REFUSAL_BODIES = {
  [CLOSED_BODY]: {
    contentType: 'APPLICATION_JSON',
    content: gatewayErrorBody({
      status: 403,
      message: 'this address is closed: use the address of the console',
      code: 'address_closed',
    }),
  },
}

/**
 * AWS's rule groups, each with the rules that only count. Those rules inspect bodies and would block prompts, base64 images and
 * reference urls as attacks or for their length. The handlers limit bodies themselves, and the url guard checks every fetched url.
 * Clients are programs and may omit a user agent.
 */
const MANAGED_RULE_GROUPS = {
  AWSManagedRulesAmazonIpReputationList: [],
  AWSManagedRulesKnownBadInputsRuleSet: ['JavaDeserializationRCE_BODY', 'Log4JRCE_BODY', 'ReactJSRCE_BODY'],
  AWSManagedRulesCommonRuleSet: [
    'NoUserAgent_HEADER',
    'SizeRestrictions_BODY',
    'EC2MetaDataSSRF_BODY',
    'GenericLFI_BODY',
    'GenericRFI_BODY',
    'CrossSiteScripting_BODY',
  ],
} as const

/**
 * Limits the requests of each address. It stands early, because it is cheap, and blocked requests skip the other rules.
 * @param frontDoor whose requests pass: they come from few addresses of CloudFront.
 */
export function floodRule(options: FloodOptions, frontDoor?: FrontDoorValues): AclRule {
  const exemption = frontDoor && { scopeDownStatement: { notStatement: { statement: throughFrontDoor(frontDoor) } } }
  return rateRule('Flood', options, { aggregateKeyType: 'IP', ...exemption })
}

/** Limits the requests of each viewer that come through the front door, by the address that the front door names. */
export function viewerFloodRule(options: FloodOptions, frontDoor: FrontDoorValues): AclRule {
  return rateRule('ViewerFlood', options, {
    aggregateKeyType: 'FORWARDED_IP',
    forwardedIpConfig: { headerName: VIEWER_ADDRESS_HEADER, fallbackBehavior: 'NO_MATCH' },
    scopeDownStatement: throughFrontDoor(frontDoor),
  })
}

/** Refuses whatever does not come through the front door. */
export function closedRule(frontDoor: FrontDoorValues): AclRule {
  return {
    name: 'Closed',
    statement: { notStatement: { statement: throughFrontDoor(frontDoor) } },
    action: { block: { customResponse: { responseCode: 403, customResponseBodyKey: CLOSED_BODY } } },
    visibilityConfig: visibility('Closed'),
  }
}

/** AWS's rules against bad addresses, known bad inputs and common attacks. */
export function managedRules(): AclRule[] {
  return Object.entries(MANAGED_RULE_GROUPS).map(([name, counted]) => ({
    name,
    statement: {
      managedRuleGroupStatement: {
        vendorName: 'AWS',
        name,
        ruleActionOverrides: counted.map((rule) => ({ name: rule, actionToUse: { count: {} } })),
      },
    },
    overrideAction: { none: {} },
    visibilityConfig: visibility(name),
  }))
}

/** Metrics and sampled requests of a rule or a web ACL. */
export function visibility(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { metricName, cloudWatchMetricsEnabled: true, sampledRequestsEnabled: true }
}

type Rate = Omit<CfnWebACL.RateBasedStatementProperty, 'limit' | 'evaluationWindowSec'>

function rateRule(name: string, options: FloodOptions, rate: Rate): AclRule {
  const crossOrigin = options.isOpenToBrowsers ? PLATFORM_CROSS_ORIGIN : {}
  const responseHeaders = Object.entries({ 'Retry-After': String(RETRY_AFTER_SECONDS), ...crossOrigin }).map(
    ([header, value]) => ({ name: header, value }),
  )
  return {
    name,
    statement: {
      rateBasedStatement: {
        limit: options.requestsPerAddressInFiveMinutes,
        evaluationWindowSec: FIVE_MINUTES_SECONDS,
        ...rate,
      },
    },
    action: {
      block: {
        customResponse: { responseCode: 429, customResponseBodyKey: RATE_LIMITED_BODY, responseHeaders },
      },
    },
    visibilityConfig: visibility(name),
  }
}

/** An `or` takes two statements at least. */
function throughFrontDoor({ accepted }: FrontDoorValues): CfnWebACL.StatementProperty {
  const [first, ...others] = accepted.map(hasValue)
  return first === undefined || others.length > 0 ? { orStatement: { statements: accepted.map(hasValue) } } : first
}

function hasValue(searchString: string): CfnWebACL.StatementProperty {
  return {
    byteMatchStatement: {
      fieldToMatch: { singleHeader: { Name: FRONT_DOOR_HEADER } },
      positionalConstraint: 'EXACTLY',
      searchString,
      textTransformations: [{ priority: 0, type: 'NONE' }],
    },
  }
}

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
