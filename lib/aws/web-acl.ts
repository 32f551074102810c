import { Stack } from 'aws-cdk-lib'
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2'
import { Construct } from 'constructs'
import { PLATFORM_CROSS_ORIGIN } from '#core/contract/cross-origin.ts'
import { errorBody, RATE_LIMITED } from './gateway-error-responses.ts'

type WebAclProps = {
  /** The protected stage of API Gateway. */
  readonly stageArn: string
  readonly requestsPerAddressInFiveMinutes: number
  /** Lets scripts of any origin read the refusals. */
  readonly isOpenToBrowsers: boolean
}

const FIVE_MINUTES_SECONDS = 300
/** WAF evaluates rates every few seconds, so an address is usually allowed again half a minute after it slows down. */
const RETRY_AFTER_SECONDS = 30
const RATE_LIMITED_BODY = 'rate-limited'

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

/** The web ACL of the API. It blocks bad addresses from AWS's list, known attacks, and floods from one address. */
export class WebAcl extends Construct {
  constructor(scope: Construct, id: string, props: WebAclProps) {
    super(scope, id)
    const acl = new CfnWebACL(this, 'Acl', {
      scope: 'REGIONAL',
      description: 'Reelgate API',
      defaultAction: { allow: {} },
      rules: [floodRule(props), ...managedRules()],
      customResponseBodies: {
        [RATE_LIMITED_BODY]: { contentType: 'APPLICATION_JSON', content: errorBody(RATE_LIMITED) },
      },
      // Sampled requests would show API keys to everyone with access to the console.
      dataProtectionConfig: {
        dataProtections: [
          { field: { fieldType: 'SINGLE_HEADER', fieldKeys: ['authorization'] }, action: 'SUBSTITUTION' },
        ],
      },
      visibilityConfig: visibility(Stack.of(this).stackName),
    })
    new CfnWebACLAssociation(this, 'Association', { webAclArn: acl.attrArn, resourceArn: props.stageArn })
  }
}

/** First, because this rule is the cheapest, and blocked requests skip the other rules. */
function floodRule({ requestsPerAddressInFiveMinutes: limit, isOpenToBrowsers }: WebAclProps): CfnWebACL.RuleProperty {
  const crossOrigin = isOpenToBrowsers ? PLATFORM_CROSS_ORIGIN : {}
  return {
    name: 'Flood',
    priority: 0,
    statement: {
      rateBasedStatement: { limit, evaluationWindowSec: FIVE_MINUTES_SECONDS, aggregateKeyType: 'IP' },
    },
    action: {
      block: {
        customResponse: {
          responseCode: 429,
          customResponseBodyKey: RATE_LIMITED_BODY,
          responseHeaders: Object.entries({ 'Retry-After': String(RETRY_AFTER_SECONDS), ...crossOrigin }).map(
            ([name, value]) => ({ name, value }),
          ),
        },
      },
    },
    visibilityConfig: visibility('Flood'),
  }
}

function managedRules(): CfnWebACL.RuleProperty[] {
  return Object.entries(MANAGED_RULE_GROUPS).map(([name, counted], index) => ({
    name,
    priority: index + 1,
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

function visibility(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { metricName, cloudWatchMetricsEnabled: true, sampledRequestsEnabled: true }
}
