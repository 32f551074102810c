import { describe, expect, it } from '@jest/globals'
import { Template } from 'aws-cdk-lib/assertions'
import { FrontDoorStack } from '#stack/front-door-stack.ts'
import { ServiceLogGroup } from '#stack/logs.ts'
import { createApp, createStack, resourcesOf, stageSettings, synthesizeAlone } from './synthesize-stack.ts'

function logGroupOf(name?: string) {
  const template = synthesizeAlone((stack) => new ServiceLogGroup(stack, 'Logs', name))
  return Object.values(template.findResources('AWS::Logs::LogGroup'))[0]
}

describe('ServiceLogGroup', () => {
  it('keeps its events for a month and is deleted with the stack', () => {
    expect(logGroupOf()).toMatchObject({ DeletionPolicy: 'Delete', Properties: { RetentionInDays: 30 } })
  })

  it('has a name only if the writing service requires one', () => {
    expect(logGroupOf()?.Properties).not.toHaveProperty('LogGroupName')
    expect(logGroupOf('/aws/vendedlogs/x')?.Properties).toHaveProperty('LogGroupName', '/aws/vendedlogs/x')
  })
})

const ACCOUNT = '111111111111'
const DISTRIBUTION = 'E2QWRUHAPOMQZL'

/** The stage itself, with all that production has. */
function stageIn(region: string, context: Readonly<Record<string, string>> = {}): Template {
  const settings = stageSettings({ console: 'on', ...context })
  return Template.fromStack(createStack({ settings, env: { region, account: ACCOUNT } }))
}

/** The stack in us-east-1 of a stage in another region. */
function besideStage(context: Readonly<Record<string, string>> = {}): Template {
  const settings = stageSettings({ console: 'on', frontDoorDistributionId: DISTRIBUTION, ...context })
  return Template.fromStack(new FrontDoorStack(createApp(), { settings, account: ACCOUNT }))
}

const deliveriesOf = (template: Template) => resourcesOf(template, 'AWS::Logs::Delivery')
const here = stageIn('us-east-1')
const beside = besideStage({ logRetentionDays: '90' })

describe('the log of the front door', () => {
  it.each([
    ['the stage in us-east-1', here],
    ['the stack in us-east-1 of another region', beside],
  ])('is delivered by %s, without query, cookie, referer and any other header', (_name, template) => {
    const [delivery, ...others] = deliveriesOf(template)
    const [source] = resourcesOf(template, 'AWS::Logs::DeliverySource')
    const [destination] = resourcesOf(template, 'AWS::Logs::DeliveryDestination')
    expect(others).toEqual([])
    expect(delivery?.properties).toMatchObject({
      DeliverySourceName: { Ref: source?.id },
      DeliveryDestinationArn: { 'Fn::GetAtt': [destination?.id, 'Arn'] },
    })
    expect(source?.properties.LogType).toBe('ACCESS_LOGS')
    expect(delivery?.properties.RecordFields).toEqual(
      expect.arrayContaining(['date', 'time', 'c-ip', 'cs-method', 'cs-uri-stem', 'sc-status', 'time-taken']),
    )
    // Without a choice of fields, CloudFront delivers them all.
    expect(delivery?.properties.RecordFields.filter((field: string) => /query|\(|cookie|referer/i.test(field))).toEqual(
      [],
    )
  })

  it('is of the distribution, and is kept as long as every other log', () => {
    const [source] = resourcesOf(beside, 'AWS::Logs::DeliverySource')
    expect(JSON.stringify(source?.properties.ResourceArn)).toContain(
      `:cloudfront::${ACCOUNT}:distribution/${DISTRIBUTION}`,
    )
    const [group] = resourcesOf(beside, 'AWS::Logs::LogGroup')
    expect(group?.properties.RetentionInDays).toBe(90)
    const [destination] = resourcesOf(beside, 'AWS::Logs::DeliveryDestination')
    expect(destination?.properties).toMatchObject({
      DestinationResourceArn: { 'Fn::GetAtt': [group?.id, 'Arn'] },
      OutputFormat: 'json',
    })
  })

  it.each([
    ['a stage in another region, because CloudFront delivers from us-east-1 alone', stageIn('eu-west-1')],
    ['dev', stageIn('us-east-1', { profile: 'dev' })],
    ['the stack of a dev stage', besideStage({ profile: 'dev', waf: 'on' })],
  ])('is not delivered by %s', (_name, template) => {
    expect(deliveriesOf(template)).toEqual([])
  })
})
