import { API_NEEDS } from '#aws/function-needs.ts'
import { STEP_NEEDS, WEBHOOK_NEEDS } from '#aws/pipeline-needs.ts'
import {
  AUDIT_UNITS,
  COUNTER_UNITS,
  OPERATION_UNITS,
  RELAYED_UNITS,
  WATCH_UNITS,
} from '../../test/engines/operation-units.ts'
import { DOLLARS_PER_MILLION } from '../list-prices.ts'
import { type Assumptions, FUNCTION_SECONDS, LOG_KILOBYTES, storeSeconds } from './assumptions.ts'

/** List prices of us-east-1 in dollars, November 2026, without free tiers, beside those per million. */
const DOLLARS = {
  /** arm64, first tier. */
  gigabyteSecond: 0.0000133334,
  /** CloudWatch Logs, ingested. */
  logGigabyte: 0.5,
  /** S3 Standard, a month. */
  storedGigabyteMonth: 0.023,
  /** CloudFront to Europe and North America, first 10 TB. */
  cdnGigabyte: 0.085,
  /** A million requests of CloudFront over https, to Europe and North America. */
  cdnRequests: 1,
  /** A million reads of S3 Standard: the CDN keeps nothing, so that each of its requests is one. */
  objectReads: 0.4,
} as const

/** Videos live for a week and are gone a day or two later. */
const STORED_MONTHS = 9 / 30

/** One line of a bill: dollars for the number of jobs or requests that the table is about. */
export type CostLine = { readonly part: string; readonly count: string; readonly dollars: number }

type Course = {
  /** Means over jobs. */
  readonly polls: number
  readonly openSeconds: number
  readonly assumptions: Assumptions
}

/** What 1,000 stored jobs with a callback cost, by service. */
export function costOfThousandJobs({ polls, openSeconds, assumptions }: Course): CostLine[] {
  const gets = openSeconds / assumptions.clientPollSeconds
  const { create, get, submit, store, settle, notify } = OPERATION_UNITS
  const changed = OPERATION_UNITS['poll, changed']
  const succeeded = OPERATION_UNITS['poll, succeeded']
  const once = [create, submit, succeeded, store, settle, notify]
  const writes = sum(once.map((units) => units.writes)) + (polls - 1) * changed.writes
  const reads = sum(once.map((units) => units.reads)) + (polls - 1) * changed.reads + gets * get.reads
  const transitions = 6 + 3 * polls
  const invocations = 5 + polls + gets
  const gigabyteSeconds =
    gigabytes(API_NEEDS['create-video-job']) * FUNCTION_SECONDS.create +
    gigabytes(API_NEEDS['get-video-job']) * FUNCTION_SECONDS.get * gets +
    gigabytes(STEP_NEEDS['submit-video-job']) * FUNCTION_SECONDS.submit +
    gigabytes(STEP_NEEDS['poll-video-job']) * FUNCTION_SECONDS.poll * polls +
    gigabytes(STEP_NEEDS['store-video']) * storeSeconds(assumptions) +
    gigabytes(STEP_NEEDS['settle-video-job']) * FUNCTION_SECONDS.settle +
    gigabytes(WEBHOOK_NEEDS) * FUNCTION_SECONDS.notify
  const { videoMegabytes, downloads } = assumptions
  const stored = videoMegabytes / 1000
  const parts = Math.ceil(videoMegabytes / 8)
  return [
    line('Step Functions', `${transitions.toFixed(1)} transitions`, transitions * DOLLARS_PER_MILLION.stateTransitions),
    line('DynamoDB writes', `${writes.toFixed(1)} units`, writes * DOLLARS_PER_MILLION.writeUnits),
    line('DynamoDB reads', `${reads.toFixed(1)} units`, reads * DOLLARS_PER_MILLION.readUnits),
    line('Lambda time', `${gigabyteSeconds.toFixed(2)} GB-s`, gigabyteSeconds * DOLLARS.gigabyteSecond * 1e6),
    line('Lambda requests', `${invocations.toFixed(1)}`, invocations * DOLLARS_PER_MILLION.invocations),
    line('API Gateway', `${(1 + gets).toFixed(1)} requests`, (1 + gets) * DOLLARS_PER_MILLION.apiRequests),
    line(
      'Logs',
      `${(invocations * LOG_KILOBYTES).toFixed(0)} KB`,
      (invocations * LOG_KILOBYTES * DOLLARS.logGigabyte * 1e6) / 1e6,
    ),
    line(
      'S3 requests',
      `${parts === 1 ? 1 : parts + 2} writes, ${downloads} reads`,
      (parts === 1 ? 1 : parts + 2) * DOLLARS_PER_MILLION.objectWrites + downloads * DOLLARS.objectReads,
    ),
    line('S3 storage', `${videoMegabytes} MB, nine days`, stored * DOLLARS.storedGigabyteMonth * STORED_MONTHS * 1e6),
    line(
      'CloudFront',
      `${(videoMegabytes * downloads).toFixed(0)} MB out, ${downloads} requests`,
      stored * downloads * DOLLARS.cdnGigabyte * 1e6 + downloads * DOLLARS.cdnRequests,
    ),
  ]
}

/** What a million relayed chats cost, by service; the same for completions, embeddings and images of that length. */
export function costOfMillionChats({ chatSeconds }: Assumptions): CostLine[] {
  const gigabyteSeconds = gigabytes(API_NEEDS['create-chat-completion']) * chatSeconds
  const whole = (part: string, count: string, dollarsPerMillion: number) => ({
    part,
    count,
    dollars: dollarsPerMillion,
  })
  return [
    whole('Lambda time', `${gigabyteSeconds.toFixed(1)} GB-s each`, gigabyteSeconds * DOLLARS.gigabyteSecond * 1e6),
    whole(
      'DynamoDB writes',
      `${RELAYED_UNITS.writes} units each`,
      RELAYED_UNITS.writes * DOLLARS_PER_MILLION.writeUnits,
    ),
    whole('API Gateway', '1 request each', DOLLARS_PER_MILLION.apiRequests),
    whole('Logs', `${LOG_KILOBYTES} KB each`, LOG_KILOBYTES * DOLLARS.logGigabyte),
    whole('Lambda requests', '1 each', DOLLARS_PER_MILLION.invocations),
  ]
}

/** Reconcile's runs in a month of thirty days. */
const RUNS_A_MONTH = 43_200

/** Reads of the switches by an instance that is always busy: one in 15 s. */
const SWITCH_READS_A_MONTH = 172_800

/** What a month of counting, alerts, audit and switches costs, beside traffic. Counters are in the prices of jobs and chats too. */
export function costOfControl({ budgets, commands }: Assumptions): CostLine[] {
  const { writeUnits, readUnits } = DOLLARS_PER_MILLION
  const month = (part: string, count: string, dollars: number) => ({ part, count, dollars: dollars / 1e6 })
  return [
    month('Usage counters', 'a million settlements, 2 write units each', 1e6 * COUNTER_UNITS.writes * writeUnits),
    month(
      'Alerts',
      `${budgets} budgets, a read unit a minute each`,
      RUNS_A_MONTH * budgets * WATCH_UNITS.reads * readUnits,
    ),
    month('Audit', `${commands} commands, 2 write units each`, commands * AUDIT_UNITS.writes * writeUnits),
    month('Switches', 'one busy instance, a read unit in 15 s', SWITCH_READS_A_MONTH * readUnits),
  ]
}

/** @param dollarsPerMillion what a million jobs pay for this part. */
function line(part: string, count: string, dollarsPerMillion: number): CostLine {
  return { part, count, dollars: dollarsPerMillion / 1000 }
}

function gigabytes({ memoryMegabytes }: { readonly memoryMegabytes: number }): number {
  return memoryMegabytes / 1024
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
