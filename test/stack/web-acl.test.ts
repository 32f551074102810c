import { describe, expect, it } from '@jest/globals'
import { closedRule, floodRule, managedRules, viewerFloodRule, WebAcl } from '#stack/web-acl.ts'
import { resourcesOf, synthesizeAlone } from './synthesize-stack.ts'

const STAGE_ARN = 'arn:aws:apigateway:eu-central-1::/restapis/abc/stages/live'

function synthesizeAcl(isOpenToBrowsers: boolean) {
  const props = { stageArn: STAGE_ARN, requestsPerAddressInFiveMinutes: 2000, isOpenToBrowsers }
  return synthesizeAlone((stack) => new WebAcl(stack, 'WebAcl', props))
}

type FrontDoor = NonNullable<ConstructorParameters<typeof WebAcl>[2]['frontDoor']>

/** Rules of an API behind a front door. */
function frontDoorRules(changes: Partial<FrontDoor>) {
  const frontDoor = {
    isApiClosed: false,
    webAclArn: undefined,
    distributionId: undefined,
    secretVersion: undefined,
    accepted: ['new'],
    ...changes,
  }
  const props = { stageArn: STAGE_ARN, requestsPerAddressInFiveMinutes: 2000, isOpenToBrowsers: false, frontDoor }
  const [found] = resourcesOf(
    synthesizeAlone((stack) => new WebAcl(stack, 'WebAcl', props)),
    'AWS::WAFv2::WebACL',
  )
  const named = (name: string): Rule | undefined => found?.properties.Rules.find(({ Name }: Rule) => Name === name)
  return {
    flood: named('Flood'),
    viewerFlood: named('ViewerFlood'),
    closed: named('Closed'),
    bodies: found?.properties.CustomResponseBodies,
    hiddenHeaders: found?.properties.DataProtectionConfig.DataProtections[0].Field.FieldKeys,
  }
}

function hasHeader(value: string) {
  return {
    ByteMatchStatement: {
      FieldToMatch: { SingleHeader: { Name: 'x-reelgate-front-door' } },
      PositionalConstraint: 'EXACTLY',
      SearchString: value,
      TextTransformations: [{ Priority: 0, Type: 'NONE' }],
    },
  }
}

const template = synthesizeAcl(false)
const [acl] = resourcesOf(template, 'AWS::WAFv2::WebACL')

type Rule = {
  readonly Name: string
  readonly Priority: number
  readonly Action?: unknown
  readonly OverrideAction?: unknown
  readonly Statement: {
    readonly RateBasedStatement?: unknown
    readonly ManagedRuleGroupStatement?: { Name: string; VendorName: string; RuleActionOverrides: Override[] }
  }
}
type Override = { readonly Name: string; readonly ActionToUse: unknown }

const rules: Rule[] = acl?.properties.Rules
const managed = rules.flatMap(({ Statement }) => Statement.ManagedRuleGroupStatement ?? [])

describe('WebAcl', () => {
  it('protects the stage, and allows requests by default', () => {
    expect(acl?.properties).toMatchObject({ Scope: 'REGIONAL', DefaultAction: { Allow: {} } })
    expect(resourcesOf(template, 'AWS::WAFv2::WebACLAssociation').map(({ properties }) => properties)).toEqual([
      { ResourceArn: STAGE_ARN, WebACLArn: { 'Fn::GetAtt': [acl?.id, 'Arn'] } },
    ])
  })

  it('uses the blocking rules of AWS’s groups', () => {
    expect(managed.map(({ VendorName, Name }) => `${VendorName} ${Name}`)).toEqual([
      'AWS AWSManagedRulesAmazonIpReputationList',
      'AWS AWSManagedRulesKnownBadInputsRuleSet',
      'AWS AWSManagedRulesCommonRuleSet',
    ])
    for (const { OverrideAction } of rules.filter(({ Statement }) => Statement.ManagedRuleGroupStatement)) {
      expect(OverrideAction).toEqual({ None: {} })
    }
    expect(new Set(rules.map(({ Priority }) => Priority)).size).toBe(rules.length)
  })

  it('only counts matches in bodies, which have prompts, images and urls, and of clients without a user agent', () => {
    const overrides = managed.flatMap(({ RuleActionOverrides }) => RuleActionOverrides)
    expect(overrides.every(({ ActionToUse }) => JSON.stringify(ActionToUse) === '{"Count":{}}')).toBe(true)
    expect(overrides.map(({ Name }) => Name).sort()).toEqual([
      'CrossSiteScripting_BODY',
      'EC2MetaDataSSRF_BODY',
      'GenericLFI_BODY',
      'GenericRFI_BODY',
      'JavaDeserializationRCE_BODY',
      'Log4JRCE_BODY',
      'NoUserAgent_HEADER',
      'ReactJSRCE_BODY',
      'SizeRestrictions_BODY',
    ])
  })

  it('blocks floods from one address with a 429 and Retry-After in the error shape of OpenAI', () => {
    const flood = rules.find(({ Name }) => Name === 'Flood')
    expect(flood?.Statement.RateBasedStatement).toEqual({
      Limit: 2000,
      EvaluationWindowSec: 300,
      AggregateKeyType: 'IP',
    })
    expect(flood?.Action).toEqual({
      Block: {
        CustomResponse: {
          ResponseCode: 429,
          CustomResponseBodyKey: 'rate-limited',
          ResponseHeaders: [{ Name: 'Retry-After', Value: '30' }],
        },
      },
    })
    const { ContentType, Content } = acl?.properties.CustomResponseBodies['rate-limited'] ?? {}
    expect(ContentType).toBe('APPLICATION_JSON')
    expect(JSON.parse(Content)).toEqual({
      error: { message: 'rate limit exceeded', type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' },
    })
  })

  it('lets scripts of any origin read the 429 where browsers may use the API', () => {
    const [open] = resourcesOf(synthesizeAcl(true), 'AWS::WAFv2::WebACL')
    const flood = open?.properties.Rules.find(({ Name }: Rule) => Name === 'Flood')
    expect(flood.Action.Block.CustomResponse.ResponseHeaders).toEqual([
      { Name: 'Retry-After', Value: '30' },
      { Name: 'access-control-allow-origin', Value: '*' },
      { Name: 'access-control-expose-headers', Value: 'x-request-id, retry-after' },
    ])
  })

  it('counts requests through the front door for their viewers, by the address that the front door names', () => {
    const { flood, viewerFlood } = frontDoorRules({})
    expect(flood?.Statement.RateBasedStatement).toMatchObject({
      AggregateKeyType: 'IP',
      ScopeDownStatement: { NotStatement: { Statement: hasHeader('new') } },
    })
    expect(viewerFlood?.Statement.RateBasedStatement).toEqual({
      Limit: 2000,
      EvaluationWindowSec: 300,
      AggregateKeyType: 'FORWARDED_IP',
      ForwardedIPConfig: { HeaderName: 'x-reelgate-viewer-address', FallbackBehavior: 'NO_MATCH' },
      ScopeDownStatement: hasHeader('new'),
    })
  })

  it('accepts both values of the header during a rotation', () => {
    const { viewerFlood } = frontDoorRules({ accepted: ['new', 'old'] })
    expect(viewerFlood?.Statement.RateBasedStatement).toMatchObject({
      ScopeDownStatement: { OrStatement: { Statements: [hasHeader('new'), hasHeader('old')] } },
    })
  })

  it('leaves counting by viewer to the web ACL of the distribution if there is one', () => {
    const { flood, viewerFlood } = frontDoorRules({ webAclArn: 'arn:aws:wafv2:us-east-1:1:global/webacl/a/b' })
    expect(flood).toBeDefined()
    expect(viewerFlood).toBeUndefined()
  })

  it('closes the API to all other requests with a 403 that says what to do, if that is set', () => {
    const { closed, flood, bodies } = frontDoorRules({ isApiClosed: true })
    expect(closed).toMatchObject({
      Priority: 0,
      Statement: { NotStatement: { Statement: hasHeader('new') } },
      Action: { Block: { CustomResponse: { ResponseCode: 403, CustomResponseBodyKey: 'closed' } } },
    })
    expect(flood).toBeUndefined()
    expect(JSON.parse(bodies.closed.Content).error).toMatchObject({ code: 'address_closed' })
  })

  it('shows no secret of the front door and no session in sampled requests', () => {
    const { hiddenHeaders } = frontDoorRules({})
    expect(hiddenHeaders).toEqual(['authorization', 'cookie', 'x-reelgate-front-door'])
  })

  it('shows no key, no signed url and no code of a provider in sampled requests', () => {
    expect(acl?.properties.DataProtectionConfig.DataProtections).toEqual([
      { Field: { FieldType: 'SINGLE_HEADER', FieldKeys: ['authorization'] }, Action: 'SUBSTITUTION' },
      { Field: { FieldType: 'QUERY_STRING' }, Action: 'SUBSTITUTION' },
    ])
  })
})

const OPTIONS = { requestsPerAddressInFiveMinutes: 2000, isOpenToBrowsers: false }

describe('web-acl-rules', () => {
  it('recognise the front door by the exact value of its header, and by no value without one', () => {
    const statements = JSON.stringify([
      floodRule(OPTIONS, { accepted: ['new', 'old'] }),
      viewerFloodRule(OPTIONS, { accepted: ['new', 'old'] }),
      closedRule({ accepted: ['new', 'old'] }),
    ])
    expect(statements.match(/"positionalConstraint":"EXACTLY"/g)).toHaveLength(6)
    expect(statements.match(/"searchString":"new"/g)).toHaveLength(3)
    expect(statements.match(/"searchString":"old"/g)).toHaveLength(3)
    expect(floodRule(OPTIONS).statement).not.toHaveProperty('rateBasedStatement.scopeDownStatement')
  })

  it('block no prompt: each managed rule that inspects bodies only counts', () => {
    const overrides = managedRules().flatMap(({ statement }) =>
      'managedRuleGroupStatement' in statement ? [JSON.stringify(statement.managedRuleGroupStatement)] : [],
    )
    expect(overrides).toHaveLength(3)
    const counted = overrides.flatMap((text) => [
      ...text.matchAll(/"name":"(\w+_BODY)","actionToUse":\{"count":\{\}\}/g),
    ])
    expect(counted).toHaveLength(8)
  })
})
