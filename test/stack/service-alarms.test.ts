import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from '@jest/globals'
import { Match } from 'aws-cdk-lib/assertions'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { type AlarmDefinition, alarmDefinitions, conditionOf } from '#stack/alarm-definitions.ts'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { createAlarms } from '#stack/service-alarms.ts'
import { alarmsOf, type WatchedMetric, type WatchingAlarm } from '../observability/watched-metrics.ts'
import {
  folderOf,
  resourcesOf,
  shippedConfiguration,
  stageSettings,
  synthesizeAlone,
  synthesizeStack,
} from './synthesize-stack.ts'

const template = synthesizeStack({ settings: stageSettings({ console: 'on' }) })
const alarms = resourcesOf(template, 'AWS::CloudWatch::Alarm').map(({ properties }) => properties)
const [topic] = resourcesOf(template, 'AWS::SNS::Topic')
const STACK = 'Reelgate-test'
const STACK_PREFIX = `${STACK}-`
const watching = alarmsOf(template, STACK)
const folders = resourcesOf(template, 'AWS::Lambda::Function')
  .map(({ properties }) => folderOf(properties))
  .filter((folder) => /^(admin-api|api|pipeline)\/|^cdn-signing-key$/.test(folder))

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

  it('has no entry in the runbook without an alarm', () => {
    const records = alarmDefinitions(shippedConfiguration.config).map(({ name }) => name)
    expect(runbookEntries().filter((entry) => !records.includes(entry))).toEqual([])
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

const RECORD: AlarmDefinition<object> = {
  name: 'JobsFail',
  meaning: 'Jobs fail.',
  metric: (_, { period }) => new Metric({ namespace: 'Test', metricName: 'failed', period }),
  threshold: 5,
}

function alarmOf(changes: Partial<AlarmDefinition<object>>, email?: string) {
  const records = [{ ...RECORD, ...changes }]
  const template = synthesizeAlone((stack) => createAlarms(stack, { records, watched: {}, email }))
  return { template, properties: resourcesOf(template, 'AWS::CloudWatch::Alarm')[0]?.properties }
}

describe('createAlarms', () => {
  it('triggers at the threshold after one period of five minutes, and not for missing data', () => {
    expect(alarmOf({}).properties).toMatchObject({
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      EvaluationPeriods: 1,
      Period: 300,
      Threshold: 5,
      TreatMissingData: 'notBreaching',
    })
  })

  it('triggers below the threshold and for missing data if silence is bad', () => {
    expect(alarmOf({ isSilenceBad: true, periods: 3, minutes: 15 }).properties).toMatchObject({
      ComparisonOperator: 'LessThanThreshold',
      EvaluationPeriods: 3,
      Period: 900,
      TreatMissingData: 'missing',
    })
  })

  it('leaves out an alarm that has nothing to watch', () => {
    expect(alarmOf({ metric: () => undefined }).properties).toBeUndefined()
  })

  it('subscribes an address, if there is one', () => {
    const subscriptionsOf = (email?: string) => resourcesOf(alarmOf({}, email).template, 'AWS::SNS::Subscription')
    expect(subscriptionsOf()).toEqual([])
    expect(subscriptionsOf('oncall@example.com')[0]?.properties).toMatchObject({
      Protocol: 'email',
      Endpoint: 'oncall@example.com',
    })
  })
})

describe('conditionOf', () => {
  it.each<[string, Partial<AlarmDefinition>]>([
    ['5 in 5 min', {}],
    ['below 5 in 5 min, 2 periods in a row', { isSilenceBad: true, periods: 2 }],
    ['maximum 1,800 s in 15 min', { statistic: 'Maximum', threshold: 1_800, unit: 's', minutes: 15 }],
    ['5 % of at least 20 in 60 min', { unit: '%', wholeMin: 20, minutes: 60 }],
    ['5 % and at least 3 in 5 min', { unit: '%', partMin: 3 }],
  ])('says %s', (condition, changes) => {
    expect(conditionOf({ name: 'JobsFail', meaning: 'Jobs fail.', threshold: 5, ...changes })).toBe(condition)
  })
})
