import { describe, expect, it } from '@jest/globals'
import { Match } from 'aws-cdk-lib/assertions'
import { resourcesOf, synthesizeStack } from './synthesize-stack.ts'

const template = synthesizeStack()
const alarms = resourcesOf(template, 'AWS::CloudWatch::Alarm').map(({ properties }) => properties)
const [topic] = resourcesOf(template, 'AWS::SNS::Topic')

/** What an alarm watches: its metrics' names, or the expression over them. */
function watched(alarm: (typeof alarms)[number]): string {
  return alarm.MetricName ?? alarm.Metrics.find((metric: { Expression?: string }) => metric.Expression)?.Expression
}

describe('ServiceAlarms', () => {
  it('tells the one topic of every alarm', () => {
    for (const alarm of alarms) {
      expect(alarm.AlarmActions).toEqual([{ Ref: topic?.id }])
    }
  })

  it.each([
    ['failed + timedOut + aborted', 1],
    ['ApproximateNumberOfMessagesVisible', 1],
    ['Invocations', 1],
    ['5XXError', 1],
    ['Errors', 4],
    ['SELECT SUM(channel_refused) FROM "Reelgate"', 1],
    ['SELECT SUM(resolution_conflict) FROM "Reelgate"', 1],
    ['SELECT SUM(upstream_orphan) FROM "Reelgate"', 1],
  ])('watches %s', (metric, times) => {
    expect(alarms.filter((alarm) => watched(alarm) === metric)).toHaveLength(times)
  })

  it('notices that Reconcile has stopped running, which no error would show', () => {
    const silent = alarms.find((alarm) => alarm.MetricName === 'Invocations')
    expect(silent).toMatchObject({ ComparisonOperator: 'LessThanThreshold', TreatMissingData: 'breaching' })
  })

  it('lets alarms publish, over TLS only', () => {
    template.hasResourceProperties('AWS::SNS::TopicPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
          Match.objectLike({
            Effect: 'Allow',
            Action: 'sns:Publish',
            Principal: { Service: 'cloudwatch.amazonaws.com' },
            Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
          }),
        ]),
      },
    })
  })
})
