import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { describe, expect, it } from 'vitest'
import { createAlarmsWithTopic } from '#stack/alarm-definition.ts'
import { resourcesOf, synthesizeAlone } from './synthesize-stack.ts'

const metric = new Metric({ namespace: 'Test', metricName: 'faults' })
const alarm = { name: 'Faults', meaning: 'Something fails.', metric, threshold: 1 }

describe('createAlarmsWithTopic', () => {
  it('notifies the topic at the beginning and the end of each alarm, and of silence where silence is bad', () => {
    const silent = { ...alarm, name: 'Silent', isSilenceBad: true }
    const template = synthesizeAlone((stack) => createAlarmsWithTopic(stack, [alarm, silent], undefined))
    const [topic] = resourcesOf(template, 'AWS::SNS::Topic')
    const told = [{ Ref: topic?.id }]
    expect(resourcesOf(template, 'AWS::CloudWatch::Alarm').map(({ properties }) => properties)).toMatchObject([
      { AlarmActions: told, OKActions: told },
      { AlarmActions: told, OKActions: told, InsufficientDataActions: told },
    ])
    expect(resourcesOf(template, 'AWS::SNS::Subscription')).toEqual([])
  })

  it('subscribes an address', () => {
    const template = synthesizeAlone((stack) => createAlarmsWithTopic(stack, [alarm], 'oncall@example.com'))
    const [subscription] = resourcesOf(template, 'AWS::SNS::Subscription')
    expect(subscription?.properties).toMatchObject({ Protocol: 'email', Endpoint: 'oncall@example.com' })
  })
})
