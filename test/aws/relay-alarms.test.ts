import { describe, expect, it } from 'vitest'
import { relayResource, synthesizeRelay } from './relay-template.ts'
import { resourcesOf } from './synthesize-stack.ts'

const template = synthesizeRelay()
const NAME = { 'Fn::Join': ['', [{ Ref: 'AWS::StackName' }, '-relay-', { Ref: 'AWS::Region' }]] }

function alarmOf(name: string) {
  return resourcesOf(template, 'AWS::CloudWatch::Alarm').find(
    ({ properties }) => properties.AlarmName === `Reelgate-test-${name}`,
  )?.properties
}

describe('relayAlarms', () => {
  it('ring when five responses and one in a hundred are a 5xx, and take missing data for good', () => {
    const alarm = alarmOf('RelayServerErrors')
    expect(alarm).toMatchObject({ Threshold: 1, TreatMissingData: 'notBreaching' })
    const [expression, ...metrics] = alarm?.Metrics ?? []
    expect(expression.Expression).toBe(
      'IF(FILL(failed, 0) >= 5, 100 * FILL(failed, 0) / (FILL(succeeded, 0) + FILL(refused, 0) + FILL(failed, 0)), 0)',
    )
    const found = metrics.map(({ MetricStat: { Metric: metric } }: { MetricStat: { Metric: object } }) => metric)
    const dimensions = { Namespace: 'AWS/Lambda/Web', Dimensions: [{ Name: 'FunctionName', Value: NAME }] }
    expect(found).toEqual(
      ['2XX', '4XX', '5XX'].map((each) => ({ ...dimensions, MetricName: `HTTPResponseStatusClass${each}` })),
    )
  })

  it('ring when a process did not start, which Lambda tells in the log alone', () => {
    const { properties } = relayResource(template, 'AWS::Logs::MetricFilter')
    expect(properties).toMatchObject({
      FilterPattern: '{ $.type = "platform.initReport" && $.record.status = "failure" }',
      LogGroupName: { Ref: relayResource(template, 'AWS::Logs::LogGroup', 'Log1').id },
      MetricTransformations: [
        { MetricNamespace: 'Reelgate-test', MetricName: 'relay_starts_failed', MetricValue: '1' },
      ],
    })
    expect(alarmOf('RelayNotStarting')).toMatchObject({
      Namespace: 'Reelgate-test',
      MetricName: 'relay_starts_failed',
      Threshold: 1,
      TreatMissingData: 'notBreaching',
    })
  })

  it('have a graph on the dashboard', () => {
    const [dashboard] = resourcesOf(template, 'AWS::CloudWatch::Dashboard')
    const body = JSON.stringify(dashboard?.properties.DashboardBody)
    expect(body).toContain('Relay server: responses')
    expect(body).toContain('relay_starts_failed')
  })
})
