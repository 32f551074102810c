import { describe, expect, it } from '@jest/globals'
import { Template } from 'aws-cdk-lib/assertions'
import { AwsSolutionsChecks } from 'cdk-nag'
import { FrontDoorAclStack } from '#aws/front-door-acl-stack.ts'
import { createApp, resourcesOf, stageSettings } from './synthesize-stack.ts'

describe('FrontDoorAclStack', () => {
  const stack = new FrontDoorAclStack(createApp(), {
    settings: stageSettings({ stage: 'prod' }),
    requestsPerAddressInFiveMinutes: 2000,
    account: undefined,
  })
  const frontDoor = Template.fromStack(stack)

  it('is in us-east-1 and needs no bootstrap there', () => {
    expect(stack.region).toBe('us-east-1')
    expect(stack.stackName).toBe('Reelgate-prod-front-door')
    expect(frontDoor.toJSON().Parameters).toBeUndefined()
    expect(new AwsSolutionsChecks().validateScope(stack).violations).toEqual([])
  })

  it('has the rules of the API, for the addresses of viewers', () => {
    const [viewers] = resourcesOf(frontDoor, 'AWS::WAFv2::WebACL')
    expect(viewers?.properties.Scope).toBe('CLOUDFRONT')
    expect(viewers?.properties.Rules.map(({ Name }: { Name: string }) => Name)).toEqual([
      'Flood',
      'AWSManagedRulesAmazonIpReputationList',
      'AWSManagedRulesKnownBadInputsRuleSet',
      'AWSManagedRulesCommonRuleSet',
    ])
    expect(viewers?.properties.Rules[0].Statement.RateBasedStatement).toEqual({
      Limit: 2000,
      EvaluationWindowSec: 300,
      AggregateKeyType: 'IP',
    })
    expect(frontDoor.toJSON().Outputs.WebAclArn.Value).toEqual({ 'Fn::GetAtt': [viewers?.id, 'Arn'] })
  })
})
