import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { REPOSITORY_ROOT } from '#aws/function-sources.ts'
import { resourcesOf, synthesizeStack } from './synthesize-stack.ts'

/** When each alarm rings, and the words of its entry in the runbook: a threshold has to change in all three places. */
const WHEN: Readonly<Record<string, readonly [string, string]>> = {
  ServiceFault: ['Sum from 1, 1 x 5 min', 'one in five minutes'],
  Irregularity: ['Sum from 1, 1 x 5 min', 'one in five minutes'],
  ChannelFault: ['Sum from 1, 1 x 5 min', 'one in five minutes'],
  Overdraft: ['Sum from 5, 1 x 60 min', 'five in an hour'],
  UsageRefused: ['Sum from 3, 1 x 60 min', 'three in an hour'],
  BilledAtEstimate: ['Sum from 25, 1 x 60 min, of at least 20', 'a quarter of at least 20 bills in an hour'],
  ReservationsExpired: ['Sum from 5, 1 x 15 min', 'five in a quarter of an hour'],
  JobsFailing: ['Sum from 50, 1 x 30 min, of at least 10', 'half of at least 10 jobs in half an hour'],
  LateTasks: ['Sum from 5, 1 x 60 min', 'five in an hour'],
  StoreFailed: ['Sum from 5, 1 x 15 min', 'five in a quarter of an hour'],
  CallbacksFailing: ['Sum from 50, 1 x 60 min, of at least 20', 'half of at least 20 callbacks in an hour'],
  UpstreamUnreachable: ['Sum from 10, 3 x 5 min', 'ten in each of three periods of five minutes'],
  RelayFailing: [
    'Sum from 10, 2 x 5 min, of at least 20',
    'a tenth of at least 20 requests, in two periods of five minutes',
  ],
  // 60 minutes of the queue and of the longest deadline, an hour for storing, half an hour of margin.
  OldestJob: ['Maximum from 12600, 1 x 15 min', 'an hour for storing and half an hour of margin'],
  OldestRequest: ['Maximum from 1800, 1 x 15 min', 'is 30 minutes old'],
  ReconcileItems: ['Sum from 1, 3 x 5 min', 'in three periods of five minutes in a row'],
  SummaryNotWritten: ['Sum from 3, 2 x 5 min', 'three in each of two periods of five minutes'],
  ExecutionsRestarted: ['Sum from 3, 1 x 15 min', 'three in a quarter of an hour'],
  ApiErrors: ['Sum from 1, 1 x 5 min, of at least 5', 'five 5xx in five minutes that are at least one in a hundred'],
  SlowReads: ['p99 from 3000, 3 x 5 min', 'takes three seconds, in three periods of five minutes'],
  FunctionsThrottled: ['Sum from 1, 1 x 5 min', 'one in five minutes, or fifty of steps of jobs'],
  ExecutionsEndedBadly: ['Sum from 1, 1 x 5 min', 'one in five minutes'],
  StepErrors: ['Sum from 5, 1 x 5 min', 'five errors of Submit, Poll, Settle, Fail or Notify in five minutes'],
  DeadLetters: ['Maximum from 1, 1 x 5 min', 'one message is in the queue'],
  ReconcileErrors: ['Sum from 3, 1 x 5 min', 'three failed runs in five minutes'],
  ReconcileSilent: ['Sum below 1, 2 x 5 min', 'no run in two periods of five minutes'],
  TableThrottled: ['Sum from 10, 1 x 5 min', 'ten throttled requests in five minutes'],
  TableErrors: ['Sum from 5, 1 x 5 min', 'five errors of DynamoDB in five minutes'],
}

const SIDES: Readonly<Record<string, string>> = {
  GreaterThanOrEqualToThreshold: 'from',
  LessThanThreshold: 'below',
}

type AlarmMetric = {
  readonly Expression?: string
  readonly Period?: number
  readonly MetricStat?: { readonly Period: number; readonly Stat: string }
}

/** Statistic, side, threshold and periods of an alarm, and how much must have happened for its share to count. */
function whenOf(properties: Readonly<Record<string, unknown>>): string {
  const { Threshold, EvaluationPeriods, ComparisonOperator, Period, Statistic, ExtendedStatistic } = properties
  const metrics: readonly AlarmMetric[] = Array.isArray(properties.Metrics) ? properties.Metrics : []
  const seconds = [Period, ...metrics.map((each) => each.Period ?? each.MetricStat?.Period)].map(Number)
  const minutes = [...new Set(seconds.filter((each) => each > 0))].map((each) => each / 60)
  const statistics = [Statistic ?? ExtendedStatistic, ...metrics.map((each) => each.MetricStat?.Stat)]
  const statistic = [...new Set(statistics.filter((each) => each !== undefined))].join()
  const atLeast = /IF\(.*>= (\d+)/.exec(metrics.map(({ Expression = '' }) => Expression).join())?.[1]
  const rings = `${statistic} ${SIDES[String(ComparisonOperator)]} ${Threshold}, ${EvaluationPeriods} x ${minutes} min`
  return atLeast === undefined ? rings : `${rings}, of at least ${atLeast}`
}

/** Alarms that share an entry end in their channel. */
function kindOf({ AlarmName }: Readonly<Record<string, unknown>>): string {
  return String(AlarmName)
    .replace('Reelgate-test-', '')
    .replace(/-[a-z0-9-]+$/, '')
}

const ALARMS = resourcesOf(synthesizeStack(), 'AWS::CloudWatch::Alarm').map(({ properties }) => properties)
const RUNBOOK = readFileSync(join(REPOSITORY_ROOT, 'docs/runbook.md'), 'utf8')

describe('the threshold of an alarm', () => {
  it('is listed here for every alarm', () => {
    expect(Object.keys(WHEN).toSorted()).toEqual([...new Set(ALARMS.map(kindOf))].toSorted())
  })

  it.each(Object.entries(WHEN))('%s matches its entry in the runbook', (kind, [rings, words]) => {
    const alarms = ALARMS.filter((alarm) => kindOf(alarm) === kind)
    expect([...new Set(alarms.map(whenOf))]).toEqual([rings])
    const [, entry = ''] = RUNBOOK.split(`\n### ${kind}\n`)
    expect(entry.split('\n- Means:')[0]?.replaceAll(/\s+/g, ' ')).toContain(words)
  })
})
