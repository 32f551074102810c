import { CHANNEL_METRICS, COUNTED_FACTS, MEASURES, metricOfFact } from '#core/measures.ts'
import { createVideoJob, deleteVideoJob, getVideoJob } from '#routes/video-jobs.ts'
import { RECONCILE_NEEDS, STEP_NEEDS, WEBHOOK_NEEDS } from '#stack/function-needs.ts'
import {
  AUDIT_UNITS,
  COUNTER_UNITS,
  DELETE_UNITS,
  EMPTY_SUMMARY_UNITS,
  OPERATION_UNITS,
  RECONCILE_UNITS,
  RELAYED_UNITS,
  type SummaryUnits,
  WATCH_UNITS,
} from '../../test/engines/operation-units.ts'
import { DOLLARS, DOLLARS_PER_MILLION } from '../list-prices.ts'
import { type Assumptions, FUNCTION_SECONDS, storeSeconds } from './assumptions.ts'

/** One line of a bill: dollars for the number of jobs, requests or months that the table is about. */
export type CostLine = { readonly part: string; readonly count: string; readonly dollars: number }

/** Dollars of all lines of a bill. */
export function sumOf(lines: readonly CostLine[]): number {
  return lines.reduce((sum, { dollars }) => sum + dollars, 0)
}

const line = (part: string, count: string, dollars: number): CostLine => ({ part, count, dollars })
/** Lines in dollars of a million as lines in dollars of a thousand. */
const thousands = (lines: readonly CostLine[]) => lines.map((each) => ({ ...each, dollars: each.dollars / 1000 }))

const gigabytesOf = ({ memoryMegabytes }: { readonly memoryMegabytes: number }) => memoryMegabytes / 1024
const price = { ...DOLLARS_PER_MILLION, gigabyteSeconds: DOLLARS.gigabyteSecond * 1e6 }

/** Log lines of one invocation with the platform's own, in kilobytes. */
const LOG_KILOBYTES = 1.2

/**
 * Share of requests and executions that X-Ray records beyond the first of each second, which it records too (AWS X-Ray Developer Guide,
 * "Configuring sampling rules", the default rule).
 */
const TRACED_SHARE = 0.05

/** @param traces requests and executions. */
const traceLine = (traces: number) =>
  line('X-Ray', `5 % of ${Number(traces.toFixed(1))}`, traces * TRACED_SHARE * price.tracesRecorded)

/** Videos live for a week and are gone a day or two later. */
const STORED_MONTHS = 9 / 30

/** The part of a job's bill that a flat-rate plan of CloudFront covers. */
export const CDN_PART = 'CloudFront'

/** What one job goes through. Means over jobs. */
export type Course = { readonly polls: number; readonly openSeconds: number; readonly assumptions: Assumptions }

/** What 1,000 stored jobs with a callback cost, by service. */
export function costOfThousandJobs({ polls, openSeconds, assumptions }: Course): CostLine[] {
  const { clientPollSeconds, videoMegabytes, downloads } = assumptions
  const {
    create,
    get,
    submit,
    store,
    settle,
    notify,
    'poll, changed': changed,
    'poll, succeeded': found,
  } = OPERATION_UNITS
  const gets = openSeconds / clientPollSeconds
  const once = [create, submit, found, store, settle, notify]
  const counters = COUNTER_UNITS.writes
  const writes = once.reduce((sum, units) => sum + units.writes, (polls - 1) * changed.writes) - counters
  const reads = once.reduce((sum, units) => sum + units.reads, (polls - 1) * changed.reads + gets * get.reads)
  const transitions = 6 + 3 * polls
  const invocations = 5 + polls + gets
  const gigabyteSeconds =
    gigabytesOf(createVideoJob.needs) * FUNCTION_SECONDS.create +
    gigabytesOf(getVideoJob.needs) * FUNCTION_SECONDS.get * gets +
    gigabytesOf(STEP_NEEDS['submit-video-job']) * FUNCTION_SECONDS.submit +
    gigabytesOf(STEP_NEEDS['poll-video-job']) * FUNCTION_SECONDS.poll * polls +
    gigabytesOf(STEP_NEEDS['store-video']) * storeSeconds(assumptions) +
    gigabytesOf(STEP_NEEDS['settle-video-job']) * FUNCTION_SECONDS.settle +
    gigabytesOf(WEBHOOK_NEEDS) * FUNCTION_SECONDS.notify
  const stored = videoMegabytes / 1000
  const parts = Math.ceil(videoMegabytes / 8)
  const puts = parts === 1 ? 1 : parts + 2
  const fetched = payAsYouGo({ requests: downloads, gigabytes: stored * downloads }) * 1e6
  return thousands([
    line('Step Functions', `${transitions.toFixed(1)} transitions`, transitions * price.stateTransitions),
    line('DynamoDB writes', `${writes.toFixed(1)} units`, writes * price.writeUnits),
    line('Usage counter', `${counters} write units`, counters * price.writeUnits),
    line('DynamoDB reads', `${reads.toFixed(1)} units`, reads * price.readUnits),
    line('Lambda time', `${gigabyteSeconds.toFixed(2)} GB-s`, gigabyteSeconds * price.gigabyteSeconds),
    line('Lambda requests', invocations.toFixed(1), invocations * price.invocations),
    line('API Gateway', `${(1 + gets).toFixed(1)} requests`, (1 + gets) * price.apiRequests),
    line('Logs', `${(invocations * LOG_KILOBYTES).toFixed(0)} KB`, invocations * LOG_KILOBYTES * DOLLARS.logGigabyte),
    traceLine(2 + gets),
    // The CDN keeps nothing, so each of its requests is a read.
    line(
      'S3 requests',
      `${puts} writes, ${downloads} reads`,
      puts * price.objectWrites + downloads * price.objectReads,
    ),
    line('S3 storage', `${videoMegabytes} MB, nine days`, stored * DOLLARS.storedGigabyteMonth * STORED_MONTHS * 1e6),
    line(CDN_PART, `${(videoMegabytes * downloads).toFixed(0)} MB out, ${downloads} requests`, fetched),
  ])
}

/** What deleting 1,000 stored videos costs. S3 deletes for nothing, and the CDN keeps no copies to invalidate. */
export function costOfThousandDeletes(): CostLine[] {
  const { reads, writes } = DELETE_UNITS
  const gigabyteSeconds = gigabytesOf(deleteVideoJob.needs) * FUNCTION_SECONDS.delete
  return thousands([
    line('DynamoDB writes', `${writes} units`, writes * price.writeUnits),
    line('DynamoDB reads', `${reads} unit`, reads * price.readUnits),
    line('API Gateway', '1 request', price.apiRequests),
    line('Lambda time', `${gigabyteSeconds.toFixed(2)} GB-s`, gigabyteSeconds * price.gigabyteSeconds),
    line('Lambda requests', '1', price.invocations),
    line('Logs', `${LOG_KILOBYTES} KB`, LOG_KILOBYTES * DOLLARS.logGigabyte),
    traceLine(1),
  ])
}

/** Memory at which Lambda gives a function one whole vCPU; less memory gets a share in proportion (docs.aws.amazon.com/lambda, "Configure function memory"). */
const MEGABYTES_PER_VCPU = 1769

/** What one chat asks of whoever serves it: CPU time on a whole vCPU, and the data of its response. */
export function chatLoad(chatSeconds: number, assumptions: Assumptions) {
  const { requestCpuMilliseconds, eventCpuMilliseconds, eventsPerSecond, eventBytes } = assumptions
  const events = chatSeconds * eventsPerSecond
  return {
    cpuSeconds: (requestCpuMilliseconds + events * eventCpuMilliseconds) / 1000,
    gigabytes: (events * eventBytes) / 1e9,
  }
}

type Chats = { readonly chatSeconds: number; readonly assumptions: Assumptions }

/**
 * What a million streamed chats cost behind API Gateway and Lambda, by service; about the same for completions, embeddings and images
 * of that length. The work of a request lengthens its time by the share of a vCPU that the memory brings; the work of events is done
 * while the function waits for the next one.
 */
export function costOfMillionChats({
  chatSeconds,
  assumptions,
  memoryMegabytes,
}: Chats & { memoryMegabytes: number }): CostLine[] {
  const workSeconds = (assumptions.functionCpuMilliseconds / 1000) * (MEGABYTES_PER_VCPU / memoryMegabytes)
  const gigabyteSeconds = (memoryMegabytes / 1024) * (chatSeconds + workSeconds)
  const { gigabytes } = chatLoad(chatSeconds, assumptions)
  const { writes } = RELAYED_UNITS
  return [
    line('Lambda time', `${gigabyteSeconds.toFixed(1)} GB-s each`, gigabyteSeconds * price.gigabyteSeconds),
    line('DynamoDB writes', `${writes} units each`, writes * price.writeUnits),
    line('Data out', `${(gigabytes * 1e6).toFixed(0)} KB each`, gigabytes * 1e6 * DOLLARS.transferGigabyte),
    line('API Gateway', '1 request each', price.apiRequests),
    line('Logs', `${LOG_KILOBYTES} KB each`, LOG_KILOBYTES * DOLLARS.logGigabyte),
    line('Lambda requests', '1 each', price.invocations),
    line('X-Ray', '5 % of the requests', TRACED_SHARE * price.tracesRecorded),
  ]
}

/** What one second of a vCPU costs in a Lambda function: as a gigabyte second of the memory that brings a whole one. */
const VCPU_SECOND = (MEGABYTES_PER_VCPU / 1024) * DOLLARS.gigabyteSecond

/** What an environment of a Web Function may be billed for: what the process uses, or all of it. */
const WEB_MEMORY_GIGABYTES = { low: 0.25, high: 2 } as const

/** A settlement waits so long for others of its tenant and process, while the process has other open requests of the tenant. */
const GROUP_SECONDS = 0.25

type WebChats = Chats & {
  /** Chats that one environment serves at a time, in the mean over its life, idle time included. */
  readonly atOnce: number
  /** One end of the range in which the cost lies. */
  readonly end: 'low' | 'high'
}

/**
 * What a million streamed chats cost as a Lambda Web Function behind CloudFront, by service. AWS publishes the dimensions of the price
 * (requests, active CPU time, memory over the life of an environment, data transfer) and no rates that could be found: `low` takes
 * Lambda's own rates, little memory and one tenant, whose settlements form groups; `high` takes `webRateFactor` times the rates of CPU and
 * of requests, all memory of an environment, a transfer price beside CloudFront's, a bill for both log groups, and another tenant for each chat.
 */
export function costOfMillionWebChats({ chatSeconds, atOnce, end, assumptions }: WebChats): CostLine[] {
  const { cpuSeconds, gigabytes } = chatLoad(chatSeconds, assumptions)
  const isLow = end === 'low'
  const rateFactor = isLow ? 1 : assumptions.webRateFactor
  const gigabyteSeconds = (chatSeconds / atOnce) * WEB_MEMORY_GIGABYTES[end]
  const grouped = isLow ? Math.max(1, (GROUP_SECONDS * atOnce) / chatSeconds) : 1
  // A reservation has 6 units; a group of settlements writes balance and hold once, then a row and its share of the counter for each.
  const writes = 6 + (6 + 2 * grouped) / grouped
  const logKilobytes = (isLow ? 1 : 2) * LOG_KILOBYTES
  const kilobytes = `${(gigabytes * 1e6).toFixed(0)} KB each`
  return [
    line('CPU time', `${(cpuSeconds * 1000).toFixed(0)} ms each`, cpuSeconds * VCPU_SECOND * rateFactor * 1e6),
    line('Memory', `${gigabyteSeconds.toFixed(2)} GB-s each`, gigabyteSeconds * price.gigabyteSeconds),
    line('Requests', '1 each', price.invocations * rateFactor),
    line('Data to CloudFront', kilobytes, isLow ? 0 : gigabytes * 1e6 * DOLLARS.transferGigabyte),
    line('DynamoDB writes', `${writes.toFixed(0)} units each`, writes * price.writeUnits),
    line('Logs', `${logKilobytes} KB each`, logKilobytes * DOLLARS.logGigabyte),
    line('CloudFront requests', '1 each', price.cdnRequests),
    line('CloudFront data out', kilobytes, gigabytes * 1e6 * DOLLARS.cdnGigabyte),
  ]
}

/**
 * CloudFront's flat-rate plans since November 2025, each for one distribution with its web ACL, DNS and logs, without overage charges: what
 * goes far beyond is slowed down (aws.amazon.com/cloudfront/pricing; allowances a month: Amazon CloudFront Developer Guide,
 * flat-rate-pricing-plan). Premium grows to $10,000 for 6 billion requests and 600 TB at about the same price for each.
 */
export const CDN_PLANS = [
  { name: 'Free', dollarsMonth: 0, requests: 1e6, gigabytes: 100 },
  { name: 'Pro', dollarsMonth: 15, requests: 10e6, gigabytes: 50_000 },
  { name: 'Business', dollarsMonth: 200, requests: 125e6, gigabytes: 50_000 },
  { name: 'Premium', dollarsMonth: 1000, requests: 500e6, gigabytes: 50_000 },
] as const

/** What one item of traffic, a chat or a video, takes of a plan. */
export type CdnLoad = { readonly requests: number; readonly gigabytes: number }

/** How many such items a month of the plan includes. */
export function itemsOf(plan: CdnLoad, { requests, gigabytes }: CdnLoad): number {
  return Math.floor(Math.min(plan.requests / requests, plan.gigabytes / gigabytes))
}

/** Dollars for one item without a plan. */
export function payAsYouGo({ requests, gigabytes }: CdnLoad): number {
  return (requests * price.cdnRequests) / 1e6 + gigabytes * DOLLARS.cdnGigabyte
}

/** Reconcile's runs in a month of thirty days, one in ten with the recount. */
const RUNS_A_MONTH = 43_200
/** Reads of the switches by an instance that is always busy: one in 15 s. */
const SWITCH_READS_A_MONTH = 172_800
const SECONDS_A_MONTH = 2_592_000

/** What the template of `prod` has with five channels and the console, and what AWS bills by the month whether used or not. */
export const IDLE_RESOURCES = { alarmMetrics: 59, secrets: 3, dashboards: 1, schedules: 1 } as const

/** What a month of counting, alerts, audit and switches costs, beside traffic. Counters are in the prices of jobs and chats too. */
export function costOfControl({ budgets, commands }: Assumptions): CostLine[] {
  const alerts = (RUNS_A_MONTH * budgets * WATCH_UNITS.reads * price.readUnits) / 1e6
  return [
    line('Usage counters', 'a million settlements, 2 write units each', COUNTER_UNITS.writes * price.writeUnits),
    line('Alerts', `${budgets} budgets, a read unit a minute each`, alerts),
    line('Audit', `${commands} commands, 2 write units each`, (commands * AUDIT_UNITS.writes * price.writeUnits) / 1e6),
    line('Switches', 'one busy instance, a read unit in 15 s', (SWITCH_READS_A_MONTH * price.readUnits) / 1e6),
  ]
}

/** What a stage costs in a month without a request. */
export function costOfIdleMonth(stage: 'prod' | 'dev'): CostLine[] {
  const { alarmMetrics, secrets, dashboards, schedules } = IDLE_RESOURCES
  const { plain, withRecount } = RECONCILE_UNITS
  const gigabyteSeconds = FUNCTION_SECONDS.reconcile * gigabytesOf(RECONCILE_NEEDS)
  const reads = 0.9 * plain.reads + 0.1 * withRecount.reads
  const runs = (dollarsPerMillion: number) => (RUNS_A_MONTH * dollarsPerMillion) / 1e6
  const summary = EMPTY_SUMMARY_UNITS
  const alarms = `${alarmMetrics} metrics looked at, with five channels`
  return [
    ...(stage === 'prod' ? [line('Alarms (`prod`)', alarms, alarmMetrics * DOLLARS.alarmMetricMonth)] : []),
    line('Secrets', `${secrets} secrets`, secrets * DOLLARS.secretMonth),
    line(
      'Reconcile',
      `43,200 runs, ${plain.reads} read units each, ${withRecount.reads} in each tenth`,
      runs(reads * price.readUnits + price.invocations + gigabyteSeconds * price.gigabyteSeconds),
    ),
    line('Schedule', `43,200 calls of ${schedules} schedule`, runs(schedules * price.scheduledCalls)),
    line('Logs', `${LOG_KILOBYTES} KB a run`, runs(LOG_KILOBYTES * DOLLARS.logGigabyte)),
    line('Metrics', 'none: a number that is zero is not written', 0),
    line('Dashboard', `${dashboards}, of the account's three free ones with up to 50 metrics; beyond them $3`, 0),
    // Every run is the first request of its second.
    line('X-Ray', 'the runs of Reconcile', runs(price.tracesRecorded)),
    line(
      'Summary of the console',
      `${summary.writes} write unit and ${summary.reads} read units a minute`,
      runs(summary.writes * price.writeUnits + summary.reads * price.readUnits),
    ),
  ]
}

/** Metrics of API Gateway's detailed measuring of one route, billed as custom metrics while it is called. */
const ROUTE_METRICS = 5

/** Custom metrics that a stage writes when everything that it measures and counts occurs in every hour. Models make none. */
export function customMetrics(channels: number): number {
  const all = new Set<string>([...MEASURES, ...COUNTED_FACTS.map(metricOfFact)])
  return all.size + (channels - 1) * CHANNEL_METRICS.length + ROUTE_METRICS
}

/** What watching a stage costs that is busy in every second of a month, beside what idle alarms cost. */
export function costOfWatching(channels: number): CostLine[] {
  const metrics = customMetrics(channels)
  return [
    line(
      'Metrics',
      `at most ${metrics} metrics, of ${channels} channels and any models`,
      metrics * DOLLARS.metricMonth,
    ),
    line('X-Ray', 'the first request of each second', (SECONDS_A_MONTH * price.tracesRecorded) / 1e6),
    line('Log lines', `a million requests, ${LOG_KILOBYTES} KB each`, LOG_KILOBYTES * DOLLARS.logGigabyte),
  ]
}

/** Dollars a month for the summary of the console when a tenth of the tenants spend something in every minute. */
export function costOfSummary({ busy }: SummaryUnits): number {
  return (RUNS_A_MONTH * (busy.writes * price.writeUnits + busy.reads * price.readUnits)) / 1e6
}
