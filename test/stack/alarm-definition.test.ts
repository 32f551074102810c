import { describe, expect, it } from '@jest/globals'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { type AlarmDefinition, createAlarm, createAlarmsWithTopic } from '#stack/alarm-definition.ts'
import { resourcesOf, synthesizeAlone } from './synthesize-stack.ts'

const metric = new Metric({ namespace: 'Test', metricName: 'failed' })
const DEFINITION = { name: 'JobsFail', meaning: 'Jobs fail.', metric, threshold: 5 }

function alarmOf(changes: Partial<AlarmDefinition> = {}) {
  const template = synthesizeAlone((stack) => createAlarm(stack, { ...DEFINITION, ...changes }))
  return resourcesOf(template, 'AWS::CloudWatch::Alarm')[0]?.properties
}

describe('createAlarm', () => {
  it('triggers at its threshold after one period, and not for missing data', () => {
    expect(alarmOf()).toMatchObject({
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      EvaluationPeriods: 1,
      Threshold: 5,
      TreatMissingData: 'notBreaching',
    })
  })

  it('triggers below its threshold and for missing data if configured', () => {
    expect(alarmOf({ isSilenceBad: true, periods: 3 })).toMatchObject({
      ComparisonOperator: 'LessThanThreshold',
      EvaluationPeriods: 3,
      TreatMissingData: 'missing',
    })
  })

  it.each([
    [{}, 'Alone-JobsFail', 'Jobs fail. Runbook: '],
    [{ channel: 'main' }, 'Alone-JobsFail-main', 'Jobs fail. Channel: main. Runbook: '],
  ])('with %j has the name %s and links to its runbook entry', (changes, name, description) => {
    const alarm = alarmOf(changes)
    expect(alarm?.AlarmName).toBe(name)
    expect(alarm?.AlarmDescription).toMatch(new RegExp(`^${description}docs/.*\\.md#jobsfail$`))
  })
})

describe('createAlarmsWithTopic', () => {
  const metric = new Metric({ namespace: 'Test', metricName: 'faults' })
  const alarm = { name: 'Faults', meaning: 'Something fails.', metric, threshold: 1 }

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
