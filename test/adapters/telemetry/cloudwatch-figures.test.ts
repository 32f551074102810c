import { CloudWatchClient, GetMetricDataCommand } from '@aws-sdk/client-cloudwatch'
import { expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { readCloudWatchFigures } from '#adapters/telemetry/cloudwatch-figures.ts'

it('readCloudWatchFigures has no minute while no channel was called, and a channel without calls', async () => {
  process.env.AWS_REGION = 'eu-central-1'
  mockClient(CloudWatchClient).on(GetMetricDataCommand).resolves({ MetricDataResults: [] })
  const figures = await readCloudWatchFigures('Reelgate-test', ['a'], 1_795_000_020_000)
  expect([figures.minuteFrom, figures.minutes, figures.breakers]).toEqual([undefined, [], undefined])
  expect(figures.byChannel.get('a')).toEqual({ calls: 0, errors: {}, p50Milliseconds: null, p95Milliseconds: null })
})
