import { CloudWatchClient, GetMetricDataCommand, type GetMetricDataCommandInput } from '@aws-sdk/client-cloudwatch'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { readCloudWatchFigures } from '#platform/telemetry/cloudwatch-figures.ts'

const MINUTE = 60_000
/** Half a minute after a minute has begun. */
const NOW = 1_795_000_020_000 + 30_000
const ago = (minutes: number) => Math.floor(NOW / MINUTE - minutes) * MINUTE

const cloudWatch = mockClient(CloudWatchClient)
beforeEach(() => {
  process.env.AWS_REGION = 'eu-central-1'
  cloudWatch.reset()
})

type Values = Readonly<Record<string, readonly (readonly [minutesAgo: number, value: number])[]>>

/** Values by the metric, its statistic, and the channel if it has one. */
async function figuresOf(values: Values) {
  cloudWatch.on(GetMetricDataCommand).callsFake(({ MetricDataQueries = [] }: GetMetricDataCommandInput) => ({
    MetricDataResults: MetricDataQueries.map(({ Id, MetricStat: { Metric, Stat } = {} }) => {
      const channel = Metric?.Dimensions?.find(({ Name }) => Name === 'channel')?.Value
      const series = values[[Metric?.MetricName, Stat, channel].filter(Boolean).join(' ')] ?? []
      return { Id, Timestamps: series.map(([at]) => new Date(ago(at))), Values: series.map(([, value]) => value) }
    }),
  }))
  return await readCloudWatchFigures('Reelgate-test', ['a'], NOW)
}

describe('readCloudWatchFigures', () => {
  it('has no minute of channels while none was called, and a channel without calls', async () => {
    const figures = await figuresOf({})
    expect([figures.minuteFrom, figures.breakers]).toEqual([undefined, undefined])
    expect(figures.byChannel.get('a')).toEqual({ calls: 0, errors: {}, p50Milliseconds: null, p95Milliseconds: null })
    expect(figures.traffic).toMatchObject({ minuteFrom: ago(3), requests: 0, errors: 0, p50Milliseconds: null })
  })

  it('takes the newest minute that is whole and in which a channel was called', async () => {
    const calls = 'upstream_milliseconds SampleCount a'
    const figures = await figuresOf({
      [calls]: [
        [5, 7],
        [4, 3],
        [2, 1],
      ],
      'upstream_error TC(1.5:2.5) a': [[4, 2]],
    })
    expect(figures.minuteFrom).toBe(ago(4))
    expect(figures.byChannel.get('a')).toMatchObject({ calls: 3, errors: { timeout: 2 } })
    expect((await figuresOf({ [calls]: [[20, 7]] })).minuteFrom).toBeUndefined()
  })

  it('adds up how often breakers opened in the last hour', async () => {
    const { breakerOpenings } = await figuresOf({
      'breaker_opened Sum a': [
        [50, 1],
        [1, 2],
      ],
    })
    expect(breakerOpenings).toEqual(new Map([['a', 3]]))
  })

  it('counts what clients did in the newest whole minute, and in each of those before', async () => {
    const { traffic } = await figuresOf({
      ...{
        'relay_succeeded Sum': [
          [4, 10],
          [3, 6],
          [1, 99],
        ],
        'relay_failed Sum': [[3, 1]],
        'relay_rejected Sum': [[3, 2]],
      },
      ...{ 'jobs_created Sum': [[3, 4]], 'jobs_failed Sum': [[3, 1]] },
      ...{ 'first_byte_milliseconds p50': [[3, 120]], 'first_byte_milliseconds p95': [[3, 340]] },
    })
    expect(traffic).toMatchObject({ requests: 13, errors: 2, p50Milliseconds: 120, p95Milliseconds: 340 })
    expect(traffic?.minutes.length).toBe(27)
    expect(traffic?.minutes.slice(-2)).toEqual([
      { at: ago(4), requests: 10, errors: 0 },
      { at: ago(3), requests: 13, errors: 2 },
    ])
  })
})
