import { describe, expect, it } from '@jest/globals'
import { Template } from 'aws-cdk-lib/assertions'
import { AwsSolutionsChecks } from 'cdk-nag'
import { FrontDoorStack } from '#stack/front-door-stack.ts'
import { alarmsOf } from '../observability/watched-metrics.ts'
import { createApp, createStack, resourcesOf, stageSettings } from './synthesize-stack.ts'

const DISTRIBUTION = { frontDoorDistributionId: 'E2QWRUHAPOMQZL' }

describe('FrontDoorStack', () => {
  const stack = new FrontDoorStack(createApp(), {
    settings: stageSettings({ console: 'on', stage: 'prod', waf: 'on', wafRatePerFiveMinutes: 2000 }),
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

  it('has no web ACL unless it is asked for', () => {
    const stack = withDistribution({}).toJSON()
    expect(Object.keys(stack.Outputs)).toEqual(['AlarmTopicArn'])
    expect(JSON.stringify(stack.Resources)).not.toContain('AWS::WAFv2')
  })

  it('has no alarm before the distribution is known, and none where the stage has no alarms', () => {
    expect(resourcesOf(frontDoor, 'AWS::CloudWatch::Alarm')).toEqual([])
    expect(
      resourcesOf(withDistribution({ stage: 'dev', profile: 'dev', waf: 'on' }), 'AWS::CloudWatch::Alarm'),
    ).toEqual([])
  })

  it.each<[string, Readonly<Record<string, string>>]>([
    ['without settings', {}],
    ['of a distribution without log and alarms', { ...DISTRIBUTION, profile: 'dev', stage: 'dev' }],
  ])('says what to give where there is nothing to deploy: %s', (_, context) => {
    const settings = stageSettings({ console: 'on', stage: 'prod', ...context })
    const empty = new FrontDoorStack(createApp(), { settings, account: undefined })
    const synthesize = () => Template.fromStack(empty)
    expect(synthesize).toThrow(/nothing to deploy: give -c frontDoorDistributionId=.* or -c waf=on/)
    expect(synthesize).not.toThrow('Resources section')
  })

  it('has the alarm of the distribution, with a topic of its own', () => {
    const known = withDistribution({ alarmEmail: 'oncall@example.com' })
    expect(alarmsOf(known, 'Reelgate-prod-front-door')).toEqual([
      {
        name: 'FrontDoorErrors',
        watched: ['5xxErrorRate', 'Requests'].map((name) => ({
          namespace: 'AWS/CloudFront',
          name,
          dimensions: { DistributionId: 'E2QWRUHAPOMQZL', Region: 'Global' },
        })),
      },
    ])
    const [alarm] = resourcesOf(known, 'AWS::CloudWatch::Alarm')
    const [topic] = resourcesOf(known, 'AWS::SNS::Topic')
    expect(alarm?.properties.AlarmActions).toEqual([{ Ref: topic?.id }])
    expect(resourcesOf(known, 'AWS::SNS::Subscription')[0]?.properties).toMatchObject({
      Endpoint: 'oncall@example.com',
    })
  })
})

/** The stack of a stage whose distribution is known. */
function withDistribution(context: Readonly<Record<string, string>>): Template {
  const settings = stageSettings({
    console: 'on',
    stage: 'prod',
    ...DISTRIBUTION,
    ...context,
  })
  const stack = new FrontDoorStack(createApp(), { settings, account: undefined })
  expect(new AwsSolutionsChecks().validateScope(stack).violations).toEqual([])
  return Template.fromStack(stack)
}

describe('the alarm on the front door', () => {
  it.each([
    ['us-east-1', ['FrontDoorErrors']],
    ['eu-west-1', []],
  ])('of a stage in %s is %j, because CloudFront has metrics in us-east-1 alone', (region, expected) => {
    const stack = createStack({ settings: stageSettings({ console: 'on' }), env: { region, account: '111111111111' } })
    const names = alarmsOf(Template.fromStack(stack), 'Reelgate-test').map(({ name }) => name)
    expect(names.filter((name) => name.startsWith('FrontDoor'))).toEqual(expected)
  })
})
