import { CloudFormationClient, DescribeStacksCommand, GetTemplateCommand } from '@aws-sdk/client-cloudformation'
import { CloudWatchClient, DescribeAlarmsCommand, GetMetricStatisticsCommand } from '@aws-sdk/client-cloudwatch'
import * as z from 'zod'
import { findResource, type StackResource } from '../deployment/stack-resources.ts'
import { type Finding, fine, wrong } from './finding.ts'

/** Reconcile runs every minute; CloudWatch is a few minutes behind. */
const RECONCILE_MILLISECONDS = 15 * 60_000
const PERIOD_SECONDS = 300
/** The limit of DescribeAlarms. */
const ALARM_NAMES_MAX = 100

/** Whether the last deployment succeeded. */
export async function checkStack(stackName: string): Promise<Finding[]> {
  const { Stacks } = await new CloudFormationClient({}).send(new DescribeStacksCommand({ StackName: stackName }))
  const status = Stacks?.[0]?.StackStatus ?? 'unknown'
  if (status.includes('ROLLBACK') || status.endsWith('_FAILED')) {
    const advice = 'The last deployment failed: read its events, fix the cause and deploy again.'
    return [wrong('stack', `${stackName} is ${status}`, advice)]
  }
  return status.endsWith('_COMPLETE')
    ? [fine('stack', `${stackName} is ${status}`)]
    : [wrong('stack', `${stackName} is ${status}`, 'Wait for the deployment to end, and check again.')]
}

/** Whether a stack that keeps its data is protected against deletion. The deployment that creates a stack cannot protect it. */
export async function checkProtection(stackName: string): Promise<Finding[]> {
  const client = new CloudFormationClient({})
  const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: stackName }))
  if (Stacks?.[0]?.EnableTerminationProtection) {
    return [fine('protection', `${stackName} is protected against deletion`)]
  }
  const { TemplateBody = '' } = await client.send(new GetTemplateCommand({ StackName: stackName }))
  const advice =
    'Deploy again with -c deletionProtection=true, and keep the setting, for example in the context of cdk.json.'
  return [
    keepsData(TemplateBody)
      ? wrong('protection', `${stackName} keeps its data and is not protected against deletion`, advice)
      : fine('protection', `${stackName} does not keep its data, and is not protected against deletion`),
  ]
}

const templateResources = z.object({
  Resources: z.record(z.string(), z.object({ Type: z.string(), DeletionPolicy: z.string().optional() })),
})

/** Whether the bucket, which every stage has, outlives its stack. */
function keepsData(template: string): boolean {
  const { data } = templateResources.safeParse(JSON.parse(template))
  return Object.values(data?.Resources ?? {}).some(
    ({ Type, DeletionPolicy = 'Delete' }) => Type === 'AWS::S3::Bucket' && DeletionPolicy.startsWith('Retain'),
  )
}

/** The alarms of the stack that are in alarm. */
export async function checkAlarms(resources: readonly StackResource[]): Promise<Finding[]> {
  const names = resources.filter(({ type }) => type === 'AWS::CloudWatch::Alarm').map(({ id }) => id)
  if (names.length === 0) {
    return [fine('alarms', 'this stage has none (`-c alarmEmail=ADDRESS`)')]
  }
  const client = new CloudWatchClient({})
  const ringing: Finding[] = []
  for (let first = 0; first < names.length; first += ALARM_NAMES_MAX) {
    const batch = names.slice(first, first + ALARM_NAMES_MAX)
    const { MetricAlarms = [] } = await client.send(
      new DescribeAlarmsCommand({ AlarmNames: batch, StateValue: 'ALARM', MaxRecords: ALARM_NAMES_MAX }),
    )
    for (const { AlarmName = '', AlarmDescription = '' } of MetricAlarms) {
      const { meaning, entry } = readAlarmDescription(AlarmDescription)
      const advice = `${entry} explains it and says what to do.`
      ringing.push(wrong('alarms', `${AlarmName} is in alarm: ${meaning}`, advice))
    }
  }
  return ringing.length === 0 ? [fine('alarms', `none of ${names.length} is in alarm`)] : ringing
}

/** Descriptions end with the runbook entry (lib/aws/alarm-definition.ts). */
function readAlarmDescription(description: string): { readonly meaning: string; readonly entry: string } {
  const [, meaning = description, entry = 'docs/runbook.md'] = /^(.*?) *Runbook: (\S+)$/s.exec(description) ?? []
  return { meaning, entry }
}

/** Whether Reconcile has run, by its invocation count. */
export async function checkReconcile(resources: readonly StackResource[], nowMilliseconds: number): Promise<Finding[]> {
  const found = findResource(resources, { type: 'AWS::Lambda::Function', logicalIdPrefix: 'ReconcileSchedule' })
  if (found === undefined) {
    return [wrong('reconcile', 'the stack has no Reconcile function', 'Deploy the stack again.')]
  }
  const runs = await metric(nowMilliseconds, {
    Namespace: 'AWS/Lambda',
    MetricName: 'Invocations',
    Dimensions: [{ Name: 'FunctionName', Value: found.id }],
    Statistics: ['Sum'],
  })
  if (runs === undefined && process.env.AWS_ENDPOINT_URL !== undefined) {
    return [fine('reconcile', 'no figures: emulators count no invocations')]
  }
  const advice =
    'Check that its schedule is enabled and that the account has concurrency left: nothing else ends lost reservations.'
  return [
    runs === undefined || runs === 0
      ? wrong('reconcile', 'has not run in the last 15 minutes', advice)
      : fine('reconcile', `ran ${runs} times in the last 15 minutes`),
  ]
}

/** Whether events for Reconcile were dropped. */
export async function checkDeadLetters(
  resources: readonly StackResource[],
  nowMilliseconds: number,
): Promise<Finding[]> {
  const found = findResource(resources, { type: 'AWS::SQS::Queue', logicalIdPrefix: 'ReconcileSchedule' })
  const letters = await metric(nowMilliseconds, {
    Namespace: 'AWS/SQS',
    MetricName: 'ApproximateNumberOfMessagesVisible',
    Dimensions: [{ Name: 'QueueName', Value: found?.id.split('/').at(-1) ?? '' }],
    Statistics: ['Maximum'],
  })
  const advice = 'The scheduled run has handled their jobs: read one to see the error, fix it, then purge the queue.'
  return [
    letters === undefined || letters === 0
      ? fine('dead letters', 'the queue is empty')
      : wrong('dead letters', `the queue holds ${letters}`, advice),
  ]
}

type Metric = {
  readonly Namespace: string
  readonly MetricName: string
  readonly Dimensions: { Name: string; Value: string }[]
  readonly Statistics: ['Sum' | 'Maximum']
}

/** A metric over the last minutes; undefined if CloudWatch has no data. */
async function metric(nowMilliseconds: number, { Statistics, ...what }: Metric): Promise<number | undefined> {
  const { Datapoints = [] } = await new CloudWatchClient({}).send(
    new GetMetricStatisticsCommand({
      ...what,
      Statistics,
      StartTime: new Date(nowMilliseconds - RECONCILE_MILLISECONDS),
      EndTime: new Date(nowMilliseconds),
      Period: PERIOD_SECONDS,
    }),
  )
  if (Datapoints.length === 0) {
    return undefined
  }
  return Statistics[0] === 'Sum'
    ? Datapoints.reduce((sum, { Sum = 0 }) => sum + Sum, 0)
    : Math.max(...Datapoints.map(({ Maximum = 0 }) => Maximum))
}
