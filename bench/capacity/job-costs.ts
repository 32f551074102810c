import { API_NEEDS } from '#aws/function-needs.ts'
import { STEP_NEEDS, WEBHOOK_NEEDS } from '#aws/pipeline-needs.ts'
import { COUNTER_UNITS, DELETE_UNITS, OPERATION_UNITS } from '../../test/engines/operation-units.ts'
import { DOLLARS, DOLLARS_PER_MILLION } from '../list-prices.ts'
import { type Assumptions, FUNCTION_SECONDS, LOG_KILOBYTES, storeSeconds, TRACED_SHARE } from './assumptions.ts'
import type { CostLine } from './cost-line.ts'

/** Videos live for a week and are gone a day or two later. */
const STORED_MONTHS = 9 / 30

type Course = {
  /** Means over jobs. */
  readonly polls: number
  readonly openSeconds: number
  readonly assumptions: Assumptions
}

/** What 1,000 stored jobs with a callback cost, by service. */
export function costOfThousandJobs(course: Course): CostLine[] {
  const { polls, openSeconds, assumptions } = course
  const gets = openSeconds / assumptions.clientPollSeconds
  const { writes, reads } = tableUnits(polls, gets)
  const transitions = 6 + 3 * polls
  const invocations = 5 + polls + gets
  const gigabyteSeconds = functionTime(course, gets)
  return [
    line('Step Functions', `${transitions.toFixed(1)} transitions`, transitions * DOLLARS_PER_MILLION.stateTransitions),
    line(
      'DynamoDB writes',
      `${(writes - COUNTER_UNITS.writes).toFixed(1)} units`,
      (writes - COUNTER_UNITS.writes) * DOLLARS_PER_MILLION.writeUnits,
    ),
    line('Usage counter', `${COUNTER_UNITS.writes} write units`, COUNTER_UNITS.writes * DOLLARS_PER_MILLION.writeUnits),
    line('DynamoDB reads', `${reads.toFixed(1)} units`, reads * DOLLARS_PER_MILLION.readUnits),
    line('Lambda time', `${gigabyteSeconds.toFixed(2)} GB-s`, gigabyteSeconds * DOLLARS.gigabyteSecond * 1e6),
    line('Lambda requests', `${invocations.toFixed(1)}`, invocations * DOLLARS_PER_MILLION.invocations),
    line('API Gateway', `${(1 + gets).toFixed(1)} requests`, (1 + gets) * DOLLARS_PER_MILLION.apiRequests),
    line('Logs', `${(invocations * LOG_KILOBYTES).toFixed(0)} KB`, invocations * LOG_KILOBYTES * DOLLARS.logGigabyte),
    traceLine(2 + gets),
    ...storageLines(assumptions),
  ]
}

function tableUnits(polls: number, gets: number) {
  const { create, get, submit, store, settle, notify } = OPERATION_UNITS
  const changed = OPERATION_UNITS['poll, changed']
  const once = [create, submit, OPERATION_UNITS['poll, succeeded'], store, settle, notify]
  return {
    writes: sum(once.map((units) => units.writes)) + (polls - 1) * changed.writes,
    reads: sum(once.map((units) => units.reads)) + (polls - 1) * changed.reads + gets * get.reads,
  }
}

/** Gigabyte seconds of all functions of a job. */
function functionTime({ polls, assumptions }: Course, gets: number): number {
  return (
    gigabytes(API_NEEDS['create-video-job']) * FUNCTION_SECONDS.create +
    gigabytes(API_NEEDS['get-video-job']) * FUNCTION_SECONDS.get * gets +
    gigabytes(STEP_NEEDS['submit-video-job']) * FUNCTION_SECONDS.submit +
    gigabytes(STEP_NEEDS['poll-video-job']) * FUNCTION_SECONDS.poll * polls +
    gigabytes(STEP_NEEDS['store-video']) * storeSeconds(assumptions) +
    gigabytes(STEP_NEEDS['settle-video-job']) * FUNCTION_SECONDS.settle +
    gigabytes(WEBHOOK_NEEDS) * FUNCTION_SECONDS.notify
  )
}

function storageLines({ videoMegabytes, downloads }: Assumptions): CostLine[] {
  const stored = videoMegabytes / 1000
  const parts = Math.ceil(videoMegabytes / 8)
  return [
    line(
      'S3 requests',
      `${parts === 1 ? 1 : parts + 2} writes, ${downloads} reads`,
      // The CDN keeps nothing, so each of its requests is a read.
      (parts === 1 ? 1 : parts + 2) * DOLLARS_PER_MILLION.objectWrites + downloads * DOLLARS_PER_MILLION.objectReads,
    ),
    line('S3 storage', `${videoMegabytes} MB, nine days`, stored * DOLLARS.storedGigabyteMonth * STORED_MONTHS * 1e6),
    line(
      CDN_PART,
      `${(videoMegabytes * downloads).toFixed(0)} MB out, ${downloads} requests`,
      stored * downloads * DOLLARS.cdnGigabyte * 1e6 + downloads * DOLLARS_PER_MILLION.cdnRequests,
    ),
  ]
}

/** The part of a job's bill that a flat-rate plan of CloudFront covers. */
export const CDN_PART = 'CloudFront'

/** What deleting 1,000 stored videos costs. S3 deletes for nothing, and the CDN keeps no copies to invalidate. */
export function costOfThousandDeletes(): CostLine[] {
  const { reads, writes } = DELETE_UNITS
  const gigabyteSeconds = gigabytes(API_NEEDS['delete-video-job']) * FUNCTION_SECONDS.delete
  return [
    line('DynamoDB writes', `${writes} units`, writes * DOLLARS_PER_MILLION.writeUnits),
    line('DynamoDB reads', `${reads} unit`, reads * DOLLARS_PER_MILLION.readUnits),
    line('API Gateway', '1 request', DOLLARS_PER_MILLION.apiRequests),
    line('Lambda time', `${gigabyteSeconds.toFixed(2)} GB-s`, gigabyteSeconds * DOLLARS.gigabyteSecond * 1e6),
    line('Lambda requests', '1', DOLLARS_PER_MILLION.invocations),
    line('Logs', `${LOG_KILOBYTES} KB`, LOG_KILOBYTES * DOLLARS.logGigabyte),
    traceLine(1),
  ]
}

/** @param traces requests and executions. */
function traceLine(traces: number): CostLine {
  return line(
    'X-Ray',
    `5 % of ${Number(traces.toFixed(1))}`,
    traces * TRACED_SHARE * DOLLARS_PER_MILLION.tracesRecorded,
  )
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
