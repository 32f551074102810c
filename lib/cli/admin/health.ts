import { get } from 'node:http'
import { get as getSecurely } from 'node:https'
import { CloudFormationClient, DescribeStacksCommand, GetTemplateCommand } from '@aws-sdk/client-cloudformation'
import { CloudWatchClient, DescribeAlarmsCommand, GetMetricStatisticsCommand } from '@aws-sdk/client-cloudwatch'
import * as z from 'zod'
import { jobIdMilliseconds } from '#core/ids.ts'
import { once } from '#platform/cache.ts'
import { dueHolds, dueReservations, openReservations, readHolds } from '#store/due-index.ts'
import { readSwitches } from '#store/switches.ts'
import type { Table } from '#store/table/table.ts'
import type { JobKey } from '#store/table/table-keys.ts'
import { listTenants } from '#store/tenants/tenants.ts'
import { stackName } from '../../config/platform-facts.ts'
import { type Check, describeFindings, type Finding, fine, runCheck, wrong } from '../findings.ts'
import {
  checkChannelConnections,
  checkChannelKeys,
  checkChannels,
  checkCredentials,
  checkModels,
  checkUpstreams,
} from './channel-checks.ts'
import { readFigures } from './channel-figures.ts'
import type { AdminContext, Command } from './command.ts'
import { readDeployedConfig } from './deployed-config.ts'
import { findResource, type StackResource } from './deployment.ts'
import { checkRules } from './rule-tenants.ts'

/** Longer than a cold start takes. */
const RESPONSE_MILLISECONDS_MAX = 10_000

/** Whether `GET /health` below the base url answers 200. */
export async function checkApi(baseUrl: string): Promise<Finding[]> {
  const url = new URL('health', baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`)
  const advice = 'Look at the errors of the function get-health, and at domain and certificate where you set them.'
  try {
    const status = await statusOf(url)
    return [
      status === 200 ? fine('api', `${url} answers`) : wrong('api', `${url} answers with status ${status}`, advice),
    ]
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return [wrong('api', `${url} does not answer: ${reason}`, advice)]
  }
}

function statusOf(url: URL): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const request = (url.protocol === 'https:' ? getSecurely : get)(url, (response) => {
    response.resume()
    resolve(response.statusCode ?? 0)
  })
  request.setTimeout(RESPONSE_MILLISECONDS_MAX, () => request.destroy(new Error('no response in time')))
  request.on('error', reject)
  return promise
}

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
    'Deploy again with deletionProtection set to true, and keep the setting: in the context of cdk.json, or as the property of an app of your own.'
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

/** Descriptions end with the runbook entry (lib/stack/service-alarms.ts). */
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

/** Reconcile runs every minute: an item that has been due for longer was missed. */
const LATE_MILLISECONDS = 5 * 60_000

/** Reconcile ends a job after 14 hours, whatever its execution does; this is an hour later. */
const OPEN_MILLISECONDS_MAX = 15 * 60 * 60_000

/** Open reservations are counted up to this number. */
const COUNTED_MAX = 10_000

/** Whether the table answers, and each balance adds up: the part of `ledger verify` that reads two items per tenant. */
export async function checkBalances(table: Table): Promise<Finding[]> {
  const tenants = await listTenants(table)
  const broken = tenants.filter(
    ({ balance, openJobs }) =>
      balance.available + balance.held + balance.spent !== balance.granted || balance.held < 0n || openJobs.count < 0,
  )
  return broken.length === 0
    ? [fine('table', `answers; ${balancesText(tenants.length)} up`)]
    : broken.map(({ id }) =>
        wrong('table', `the balance of tenant ${id} does not add up`, `Run \`ledger verify --tenant ${id}\`.`),
      )
}

/** Whether Reconcile handles open reservations, and none is older than a job can be. */
export async function checkReservations(table: Table, nowMilliseconds: number): Promise<Finding[]> {
  let open = 0
  let oldest: JobKey | undefined
  for await (const item of openReservations(table)) {
    open += 1
    oldest = 'jobId' in item ? olderJob(item, oldest) : oldest
    if (open >= COUNTED_MAX) {
      break
    }
  }
  for await (const { requests } of readHolds(table)) {
    open += requests
  }
  const late = await countLate(table, nowMilliseconds - LATE_MILLISECONDS)
  const age = oldest === undefined ? 0 : nowMilliseconds - jobIdMilliseconds(oldest.jobId)
  // Open reservations without a job belong to relayed requests.
  const ofJobs =
    oldest === undefined
      ? ', none of a video job'
      : `, the oldest job ${ageText(age)} old: job ${oldest.jobId} of tenant ${oldest.tenantId}`
  const standing = open === 0 ? 'none is open' : `${countText(open)} open${ofJobs}`
  const findings = [fine('reservations', standing)]
  if (late > 0) {
    const advice = 'Reconcile does not run, or fails: see its log lines `reconcile failed` and its errors.'
    findings.push(
      wrong(
        'reservations',
        `${countText(late)} ${late === 1 ? 'has' : 'have'} been due for more than 5 minutes`,
        advice,
      ),
    )
  }
  if (oldest !== undefined && age > OPEN_MILLISECONDS_MAX) {
    const advice = `Reconcile should have ended it: see \`job timeline --job ${oldest.jobId}\`, then \`job cancel\` it; \`job list --open\` shows others.`
    findings.push(
      wrong(
        'reservations',
        `job ${oldest.jobId} of tenant ${oldest.tenantId} has been open for ${ageText(age)}`,
        advice,
      ),
    )
  }
  return findings
}

async function countLate(table: Table, dueBefore: number): Promise<number> {
  let late = 0
  for (const due of [dueReservations(table, dueBefore), dueHolds(table, dueBefore)]) {
    for await (const _ of due) {
      late += 1
      if (late >= COUNTED_MAX) {
        break
      }
    }
  }
  return late
}

function olderJob(job: JobKey, other: JobKey | undefined): JobKey {
  return other === undefined || jobIdMilliseconds(job.jobId) < jobIdMilliseconds(other.jobId) ? job : other
}

function balancesText(tenants: number): string {
  return tenants === 1 ? 'the balance of 1 tenant adds' : `the balances of ${tenants} tenants add`
}

function countText(count: number): string {
  return count >= COUNTED_MAX ? `${count} or more` : String(count)
}

function ageText(milliseconds: number): string {
  const minutes = Math.trunc(milliseconds / 60_000)
  return minutes < 120 ? `${minutes} min` : `${Math.trunc(minutes / 60)} h`
}

/** Checks a deployment from outside. */
export const health: Command = {
  name: 'health',
  summary: 'check a deployment: stack, api, table, reservations, channels, models, rules, Reconcile, alarms',
  details: `Exit code 1 if something is wrong; each finding says what to do. It names channels and models that operators have disabled, models that no enabled channel serves, upstreams of
which every call of the last minute failed or whose breaker is open, and rules whose tenant does not exist or is suspended.
With --local, the parts of a local host, and connections to its upstreams. Nothing is changed. \`ledger verify\` checks the money in full.`,
  examples: ['health --stage prod', 'health --local --json'],
  async run(context) {
    // Otherwise every check would report the same failing look-up.
    await context.output('BaseUrl')
    const findings = (await Promise.all(checksOf(context).map(runCheck))).flat()
    return describeFindings(findings)
  },
}

function checksOf(context: AdminContext): Check[] {
  const now = Date.now()
  const config = once(() => readDeployedConfig(context))
  const switches = once(async () => (await readSwitches(await context.table())).switches)
  const figures = once(async () => {
    const ids = (await config()).channels.map(({ id }) => id)
    return await readFigures(context, ids, now)
  })
  const common: Check[] = [
    { name: 'api', run: async () => checkApi(await context.output('BaseUrl')) },
    { name: 'table', run: async () => checkBalances(await context.table()) },
    { name: 'reservations', run: async () => checkReservations(await context.table(), now) },
    { name: 'channels', run: async () => checkChannels(await config(), await switches()) },
    { name: 'models', run: async () => checkModels(await config(), await switches()) },
    { name: 'upstreams', run: async () => checkUpstreams(await config(), await figures()) },
    { name: 'rules', run: async () => checkRules(context.table, await config()) },
  ]
  const here: Check = { name: 'connections', run: async () => checkChannelConnections(await config()) }
  const credentials: Check = {
    name: 'credentials',
    run: async () => checkCredentials(await config(), context.local ? (await figures())?.credentials : undefined),
  }
  return context.local ? [...common, here, credentials] : [...deployedChecks(context, now), ...common, credentials]
}

function deployedChecks(context: AdminContext, now: number): Check[] {
  return [
    { name: 'stack', run: () => checkStack(stackName(context.stage)) },
    { name: 'protection', run: () => checkProtection(stackName(context.stage)) },
    { name: 'reconcile', run: async () => checkReconcile(await context.resources(), now) },
    { name: 'dead letters', run: async () => checkDeadLetters(await context.resources(), now) },
    { name: 'alarms', run: async () => checkAlarms(await context.resources()) },
    {
      name: 'channel keys',
      run: async () => checkChannelKeys(await context.output('ChannelSecretArn'), await readDeployedConfig(context)),
    },
  ]
}
