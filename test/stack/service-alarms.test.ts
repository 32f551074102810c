import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from '@jest/globals'
import { Match } from 'aws-cdk-lib/assertions'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { alarmsOf, type WatchedMetric, type WatchingAlarm } from '../observability/watched-metrics.ts'
import { folderOf, resourcesOf, shippedConfiguration, stageSettings, synthesizeStack } from './synthesize-stack.ts'

const template = synthesizeStack({ settings: stageSettings({ console: 'on' }) })
const alarms = resourcesOf(template, 'AWS::CloudWatch::Alarm').map(({ properties }) => properties)
const [topic] = resourcesOf(template, 'AWS::SNS::Topic')
const STACK = 'Reelgate-test'
const STACK_PREFIX = `${STACK}-`
const watching = alarmsOf(template, STACK)
const folders = resourcesOf(template, 'AWS::Lambda::Function')
  .map(({ properties }) => folderOf(properties))
  .filter((folder) => /^(admin-api|api|pipeline)\/|^cdn-signing-key$/.test(folder))
const names = alarms.map(({ AlarmName }) => String(AlarmName).replace(STACK_PREFIX, ''))

/** A dimension's value as a resource of the template: the folder of a function, the type of anything else, or the text. */
function subjectOf(value: WatchedMetric['dimensions'][string]): string {
  const [id] = typeof value === 'string' ? [] : Object.values(value).flat()
  const resource = template.toJSON().Resources[String(id)]
  if (resource?.Type === 'AWS::Lambda::Function') {
    return folderOf(resource.Properties)
  }
  return resource?.Type ?? String(value)
}

const RECONCILE = ['pipeline/reconcile']
const TABLE = ['AWS::DynamoDB::GlobalTable']
const FUNCTIONS = ['AWS/Lambda Throttles']

/** The metrics of each alarm, by AWS's documents, and what of this stack they are about. */
const PLATFORM_ALARMS: Readonly<Record<string, { metrics: readonly string[]; subjects: readonly string[] }>> = {
  ApiErrors: { metrics: ['AWS/ApiGateway 5XXError', 'AWS/ApiGateway Count'], subjects: ['Reelgate-test'] },
  SlowReads: {
    metrics: ['AWS/ApiGateway Latency'],
    subjects: ['Reelgate-test', 'AWS::ApiGateway::Stage', 'GET', '/v1/video/generations/{job_id}'],
  },
  ExecutionsEndedBadly: {
    metrics: ['AWS/States ExecutionsFailed', 'AWS/States ExecutionsTimedOut', 'AWS/States ExecutionsAborted'],
    subjects: ['AWS::StepFunctions::StateMachine'],
  },
  StepErrors: {
    metrics: ['AWS/Lambda Errors'],
    subjects: ['submit-video-job', 'poll-video-job', 'settle-video-job', 'fail-video-job', 'notify'].map(
      (name) => `pipeline/${name}`,
    ),
  },
  FunctionsThrottled: {
    metrics: FUNCTIONS,
    subjects: folders.filter((folder) => folder.startsWith('pipeline/') && folder !== 'pipeline/reconcile'),
  },
  DeadLetters: { metrics: ['AWS/SQS ApproximateNumberOfMessagesVisible'], subjects: ['AWS::SQS::Queue'] },
  ReconcileErrors: { metrics: ['AWS/Lambda Errors'], subjects: RECONCILE },
  ReconcileSilent: { metrics: ['AWS/Lambda Invocations'], subjects: RECONCILE },
  TableThrottled: { metrics: ['AWS/DynamoDB ReadThrottleEvents', 'AWS/DynamoDB WriteThrottleEvents'], subjects: TABLE },
  TableErrors: {
    metrics: ['AWS/DynamoDB SystemErrors'],
    subjects: [...TABLE, 'GetItem', 'Query', 'TransactWriteItems'],
  },
}

/** Alarms that share an entry end in their channel. */
const kindOf = (name: string) => name.replace(/-[a-z0-9-]+$/, '')
/** All kinds, with the one that only a stack in us-east-1 has. */
const kinds = [...new Set(names.map(kindOf)), 'FrontDoorErrors']

/** Kinds of alarms of which every channel has its own. */
const CHANNEL_ALARMS = ['ChannelFault']

function channelsOf(): string[] {
  return shippedConfiguration.config.channels.map(({ id }) => id)
}

/** The alarms with an entry in the runbook. */
function runbookEntries(): string[] {
  const page = readFileSync(join(REPOSITORY_ROOT, 'docs/runbook.md'), 'utf8')
  const [, runbook = ''] = page.split(/^## Entries$/m)
  const [section = ''] = runbook.split(/^## /m)
  return [...section.matchAll(/^### (\w+)$/gm)].map(([, name]) => String(name))
}

describe('ServiceAlarms', () => {
  it('notifies one topic at the beginning and the end of an alarm', () => {
    for (const alarm of alarms) {
      expect(alarm.AlarmActions).toEqual([{ Ref: topic?.id }])
      expect(alarm.OKActions).toEqual([{ Ref: topic?.id }])
    }
  })

  it('names each alarm after its stack and links to its runbook entry', () => {
    for (const { AlarmName, AlarmDescription } of alarms) {
      expect(AlarmName).toMatch(/^Reelgate-test-[A-Z][A-Za-z]+\d*(-[a-z0-9][a-z0-9-]+)?$/)
      const anchor = kindOf(AlarmName).replace(STACK_PREFIX, '').toLowerCase()
      expect(AlarmDescription).toMatch(new RegExp(`^[A-Z].*\\. Runbook: docs/runbook\\.md#${anchor}$`))
    }
  })

  it('has a separate alarm for each channel, which names the channel and watches its metric only', () => {
    const ofChannels = watching
      .filter(({ name }) => CHANNEL_ALARMS.includes(kindOf(name)))
      .map(({ name, watched }) => [name, watched.map(({ dimensions }) => dimensions)])
    const expected = CHANNEL_ALARMS.flatMap((kind) =>
      channelsOf().map((channel) => [`${kind}-${channel}`, [{ service: 'reelgate', channel }]]),
    )
    expect(ofChannels).toEqual(expected)
    const described = alarms.find(({ AlarmName }) => AlarmName === `${STACK_PREFIX}ChannelFault-p1-main`)
    expect(described?.AlarmDescription).toContain(' Channel: p1-main. Runbook: ')
  })

  it('has a runbook entry for every alarm, and no entry without an alarm', () => {
    // test/aws/relay-alarms.test.ts has the two of relay=web.
    expect(runbookEntries().toSorted()).toEqual([...kinds, 'RelayNotStarting', 'RelayServerErrors'].toSorted())
  })

  it('ignores missing data, except where missing data are the fault', () => {
    const bad = alarms.filter(({ TreatMissingData }) => TreatMissingData !== 'notBreaching')
    expect(bad.map(({ AlarmName }) => AlarmName)).toEqual([`${STACK_PREFIX}ReconcileSilent`])
    expect(bad[0]).toMatchObject({ ComparisonOperator: 'LessThanThreshold', MetricName: 'Invocations' })
  })

  it('does not trigger before the first run of Reconcile, and triggers when runs stop', () => {
    // A new alarm is in INSUFFICIENT_DATA: staying there is no transition, coming back from OK is one.
    const notified = alarms.filter(({ InsufficientDataActions }) => InsufficientDataActions !== undefined)
    expect(notified.map(({ AlarmName }) => AlarmName)).toEqual([`${STACK_PREFIX}ReconcileSilent`])
    expect(notified[0]).toMatchObject({ TreatMissingData: 'missing', InsufficientDataActions: [{ Ref: topic?.id }] })
    expect(alarms.map(({ TreatMissingData }) => TreatMissingData)).not.toContain('breaching')
  })

  it('has the DeadLetters alarm for a schedule that never reached Reconcile', () => {
    const [schedule] = resourcesOf(template, 'AWS::Scheduler::Schedule')
    const [queue] = resourcesOf(template, 'AWS::SQS::Queue')
    expect(schedule?.properties.Target.DeadLetterConfig.Arn).toEqual({ 'Fn::GetAtt': [queue?.id, 'Arn'] })
    expect(watching.find(({ name }) => name === 'DeadLetters')?.watched[0]?.dimensions).toEqual({
      QueueName: { 'Fn::GetAtt': [queue?.id, 'QueueName'] },
    })
  })

  it.each(Object.entries(PLATFORM_ALARMS))('%s watches AWS metrics of this stack', (name, expected) => {
    const watched = watching.filter((alarm) => kindOf(alarm.name) === name).flatMap((alarm) => alarm.watched)
    expect([...new Set(watched.map(({ namespace, name: metric }) => `${namespace} ${metric}`))]).toEqual(
      expected.metrics,
    )
    const subjects = watched.flatMap(({ dimensions }) => Object.values(dimensions).map(subjectOf))
    expect([...new Set(subjects)].toSorted()).toEqual(expected.subjects.toSorted())
  })

  it('lists every alarm on AWS metrics above', () => {
    const isOurs = ({ watched }: WatchingAlarm) => watched.some(({ namespace }) => namespace === STACK)
    const ofAws = watching.filter((alarm) => !isOurs(alarm)).map(({ name }) => kindOf(name))
    expect([...new Set(ofAws)]).toEqual(Object.keys(PLATFORM_ALARMS))
  })

  it('counts crashes and timeouts of each function of the console in ConsoleErrors', () => {
    const watched = watching.find(({ name }) => name === 'ConsoleErrors')?.watched ?? []
    const errors = watched.filter(({ namespace, name }) => namespace === 'AWS/Lambda' && name === 'Errors')
    expect(errors.map(({ dimensions }) => Object.values(dimensions).map(subjectOf)).toSorted()).toEqual([
      ['admin-api/read'],
      ['admin-api/sign-in'],
      ['admin-api/write'],
    ])
  })

  it('watches the throttles of the whole account, and so of every function, by one alarm', () => {
    const throttled = watching.filter(({ watched }) => watched.some(({ name }) => name === 'Throttles'))
    expect(throttled.map(({ name }) => name)).toEqual(['FunctionsThrottled'])
    expect(throttled[0]?.watched).toContainEqual({ namespace: 'AWS/Lambda', name: 'Throttles', dimensions: {} })
  })

  it('has no more metrics in an alarm than CloudWatch allows', () => {
    for (const { Metrics = [] } of alarms) {
      const stats = Metrics.filter((metric: { MetricStat?: object }) => metric.MetricStat !== undefined)
      expect(stats.length).toBeLessThanOrEqual(10)
    }
  })

  it('allows alarms to publish, over TLS only', () => {
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

const [alarm] = resourcesOf(synthesizeStack(), 'AWS::CloudWatch::Alarm').filter(({ properties }) =>
  properties.AlarmName.endsWith('-FunctionsThrottled'),
)

type Query = { readonly Id: string; readonly Expression?: string }

/** What the alarm compares with its threshold. CloudWatch's arithmetic and comparisons read as those of JavaScript. */
function alarmValueOf({ all, steps }: { readonly all: number; readonly steps: number }): number {
  const queries: readonly Query[] = alarm?.properties.Metrics ?? []
  const ids = queries.filter(({ Expression }) => Expression === undefined).map(({ Id }) => Id)
  const values = Object.fromEntries(ids.map((id) => [id, id === 'all' ? all : 0]))
  const { Expression = '' } = queries.find((each) => each.Expression !== undefined) ?? {}
  return Number(runInNewContext(Expression, { ...values, step0: steps, FILL: (value: number) => value }))
}

describe('FunctionsThrottled', () => {
  it('rings for one throttled request, and for throttled steps of jobs from fifty on', () => {
    const rings = [
      { all: 0, steps: 0 },
      { all: 1, steps: 0 },
      { all: 49, steps: 49 },
      { all: 50, steps: 49 },
      { all: 50, steps: 50 },
    ].map((throttles) => alarmValueOf(throttles) >= alarm?.properties.Threshold)
    expect(rings).toEqual([false, true, false, true, true])
  })
})
