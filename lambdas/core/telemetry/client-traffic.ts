import type { Measure } from './measures.ts'

/** Each is one request of a client: a relayed request, or a video job that was created. */
export const REQUEST_MEASURES = [
  'relay_succeeded',
  'relay_failed',
  'relay_rejected',
  'jobs_created',
] as const satisfies readonly Measure[]

/** Failures of the gateway or of an upstream; requests that are refused with a 4xx have not failed. */
export const FAILURE_MEASURES = ['relay_failed', 'jobs_failed'] as const satisfies readonly Measure[]

/** From the request of a client to the first byte of its response, of relayed requests. */
export const FIRST_BYTE_MEASURE: Measure = 'first_byte_milliseconds'

/** Requests and errors of one minute. `at` is its begin, in Unix milliseconds. */
type MinuteTraffic = { readonly at: number; readonly requests: number; readonly errors: number }

/** What clients did in one minute, and in those before. */
export type ClientTraffic = {
  /** Begin of the minute, in Unix milliseconds. */
  readonly minuteFrom: number
  readonly requests: number
  readonly errors: number
  /** Of relayed requests; null without one. */
  readonly p50Milliseconds: number | null
  readonly p95Milliseconds: number | null
  /** Without a gap, oldest first. */
  readonly minutes: readonly MinuteTraffic[]
}
