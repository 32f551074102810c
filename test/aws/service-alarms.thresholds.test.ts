import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'

/**
 * When each alarm rings, as the table of the runbook says it, which is made of the definitions, and the words of its entry: a threshold has to
 * change in all three places.
 */
const WHEN: Readonly<Record<string, readonly [string, string]>> = {
  ServiceFault: ['1 in 5 min', 'one in five minutes'],
  Irregularity: ['1 in 5 min', 'one in five minutes'],
  ChannelFault: ['1 in 5 min', 'one in five minutes'],
  Overdraft: ['5 in 60 min', 'five in an hour'],
  UsageRefused: ['3 in 60 min', 'three in an hour'],
  BilledAtEstimate: ['25 % of at least 20 in 60 min', 'a quarter of at least 20 bills in an hour'],
  ReservationsExpired: ['5 in 15 min', 'five in a quarter of an hour'],
  JobsFailing: ['50 % of at least 10 in 30 min', 'half of at least 10 jobs in half an hour'],
  LateTasks: ['5 in 60 min', 'five in an hour'],
  StoreFailed: ['5 in 15 min', 'five in a quarter of an hour'],
  CallbacksFailing: ['50 % of at least 20 in 60 min', 'half of at least 20 callbacks in an hour'],
  UpstreamUnreachable: ['10 in 5 min, 3 periods in a row', 'ten in each of three periods of five minutes'],
  RelayFailing: [
    '10 % of at least 20 in 5 min, 2 periods in a row',
    'a tenth of at least 20 requests, in two periods of five minutes',
  ],
  // 60 minutes of the queue and of the longest deadline, an hour for storing, half an hour of margin.
  OldestJob: ['maximum 12,600 s in 15 min', 'an hour for storing and half an hour of margin'],
  OldestRequest: ['maximum 1,800 s in 15 min', 'is 30 minutes old'],
  ReconcileItems: ['1 in 5 min, 3 periods in a row', 'in three periods of five minutes in a row'],
  SummaryNotWritten: ['3 in 5 min, 2 periods in a row', 'three in each of two periods of five minutes'],
  ExecutionsRestarted: ['3 in 15 min', 'three in a quarter of an hour'],
  ApiErrors: ['1 % and at least 5 in 5 min', 'five 5xx in five minutes that are at least one in a hundred'],
  SlowReads: ['p99 3,000 ms in 5 min, 3 periods in a row', 'takes three seconds, in three periods of five minutes'],
  FunctionsThrottled: ['1 in 5 min', 'one in five minutes, or fifty of steps of jobs'],
  ExecutionsEndedBadly: ['1 in 5 min', 'one in five minutes'],
  StepErrors: ['5 in 5 min', 'five errors of Submit, Poll, Settle, Fail or Notify in five minutes'],
  DeadLetters: ['maximum 1 in 5 min', 'one message is in the queue'],
  ReconcileErrors: ['3 in 5 min', 'three failed runs in five minutes'],
  ReconcileSilent: ['below 1 in 5 min, 2 periods in a row', 'no run in two periods of five minutes'],
  TableThrottled: ['10 in 5 min', 'ten throttled requests in five minutes'],
  TableErrors: ['5 in 5 min', 'five errors of DynamoDB in five minutes'],
  ConsoleErrors: ['3 in 5 min', 'three in five minutes'],
  SignInsRefused: ['50 in 5 min', 'fifty in five minutes'],
  RelayServerErrors: [
    '1 % and at least 5 in 5 min',
    'five 5xx in five minutes that are at least one in a hundred relayed requests',
  ],
  RelayNotStarting: ['1 in 5 min', 'one in five minutes'],
  FrontDoorErrors: [
    '5 % of at least 20 in 5 min, 2 periods in a row',
    'one request in twenty is a 5xx, of at least 20 in five minutes, in two periods in a row',
  ],
}

const RUNBOOK = readFileSync(join(REPOSITORY_ROOT, 'docs/runbook.md'), 'utf8')
const ROWS = new Map(
  [...RUNBOOK.matchAll(/^\| \[(\w+)\]\(#\w+\)[^|]*\|[^|]*\| ([^|]*) \|$/gm)].map(([, kind = '', rings]) => [
    kind,
    rings,
  ]),
)

describe('the threshold of an alarm', () => {
  it('is listed here for every alarm', () => {
    expect(Object.keys(WHEN).toSorted()).toEqual([...ROWS.keys()].toSorted())
  })

  it.each(Object.entries(WHEN))('of %s matches its entry in the runbook', (kind, [rings, words]) => {
    expect(ROWS.get(kind)).toBe(rings)
    const [, entry = ''] = RUNBOOK.split(`\n### ${kind}\n`)
    expect(entry.split('\n- Means:')[0]?.replaceAll(/\s+/g, ' ')).toContain(words)
  })
})
