import { CloudWatchClient, GetMetricDataCommand } from '@aws-sdk/client-cloudwatch'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { provideFigures, readCurrentFigures } from '#platform/telemetry/current-figures.ts'

const cloudWatch = mockClient(CloudWatchClient)
const NOW = 1_795_000_020_000
beforeEach(() => {
  cloudWatch.reset()
  process.env.AWS_REGION = 'eu-central-1'
})
afterEach(() => {
  delete process.env.POWERTOOLS_METRICS_NAMESPACE
})

it('current-figures: has none where nothing tells them', async () => {
  expect(await readCurrentFigures(['a'], NOW)).toBeUndefined()
})

it('current-figures: a failure of CloudWatch leaves pages without figures, for a minute', async () => {
  process.env.POWERTOOLS_METRICS_NAMESPACE = 'Reelgate-test'
  cloudWatch.on(GetMetricDataCommand).rejects(new Error('throttled'))
  expect(await readCurrentFigures(['a'], NOW)).toBeUndefined()
  expect(await readCurrentFigures(['a'], NOW + 59_000)).toBeUndefined()
  expect(cloudWatch.commandCalls(GetMetricDataCommand)).toHaveLength(1)
})

it('current-figures: reads CloudWatch at most once a minute', async () => {
  process.env.POWERTOOLS_METRICS_NAMESPACE = 'Reelgate-test'
  const at = new Date(NOW - 300_000)
  cloudWatch.on(GetMetricDataCommand).callsFake(({ MetricDataQueries }) => ({
    MetricDataResults: MetricDataQueries.slice(0, 4).map(({ Id }: { Id: string }, index: number) => ({
      ...{ Id, Timestamps: [at], Values: [[12, 80, 300, 2][index]] },
    })),
  }))
  const figures = await readCurrentFigures(['a'], NOW + 120_000)
  await readCurrentFigures(['a'], NOW + 170_000)
  expect(cloudWatch.commandCalls(GetMetricDataCommand)).toHaveLength(1)
  expect(figures?.byChannel.get('a')).toMatchObject({ calls: 12, p50Milliseconds: 80, p95Milliseconds: 300 })
  expect(figures?.minuteFrom).toBe(at.getTime())
})

it('current-figures: takes those of a process that tells them', async () => {
  process.env.POWERTOOLS_METRICS_NAMESPACE = 'Reelgate-test'
  provideFigures((now) => ({ minuteFrom: now, byChannel: new Map(), breakers: new Map() }))
  expect(await readCurrentFigures([], NOW)).toMatchObject({ minuteFrom: NOW })
})
