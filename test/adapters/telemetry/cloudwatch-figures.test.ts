import { CloudWatchClient, GetMetricDataCommand, type GetMetricDataCommandInput } from '@aws-sdk/client-cloudwatch'
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

it('readCloudWatchFigures adds up how often breakers opened, which is no error of a minute', async () => {
  process.env.AWS_REGION = 'eu-central-1'
  const client = mockClient(CloudWatchClient)
  client.on(GetMetricDataCommand).callsFake(({ MetricDataQueries }: GetMetricDataCommandInput) => ({
    MetricDataResults: (MetricDataQueries ?? []).flatMap(({ Id, MetricStat }) =>
      MetricStat?.Metric?.MetricName === 'breaker_opened'
        ? [{ Id, Timestamps: [new Date(1_795_000_000_000), new Date(1_795_000_060_000)], Values: [1, 2] }]
        : [],
    ),
  }))
  const figures = await readCloudWatchFigures('Reelgate-test', ['a'], 1_795_000_300_000)
  expect([figures.breakerOpenings, figures.minutes]).toEqual([new Map([['a', 3]]), []])
})
