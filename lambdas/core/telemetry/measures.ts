import type { FactMetric } from './counted-facts.ts'

/**
 * The measures besides the counted facts (`counted-facts.ts`); docs/operate.md, "What is measured",
 * has a row for each. Counts are summed, `oldest_` and `open_` are read as maxima, all others are distributions.
 */
export const MEASURES = [
  'jobs_created',
  'jobs_submitted',
  /** From the creation to the claim of the accepted submit. */
  'queue_seconds',
  /** From the submit to the first poll with a reply. */
  'first_poll_seconds',
  'generation_seconds',
  /** From the end of the generation to the poll that found it, or the wait before that poll if the upstream reports no end. */
  'detection_lag_seconds',
  'store_seconds',
  'stored_bytes',
  'store_bytes_per_second',
  'jobs_succeeded',
  'jobs_failed',
  /** From the creation to the end, of jobs that succeeded. */
  'job_seconds',
  'relay_succeeded',
  /** Failures of the gateway or of upstreams: 5xx, or an incomplete stream. */
  'relay_failed',
  /** 4xx, from the gateway or relayed. */
  'relay_rejected',
  /** From the invocation to the head of a 2xx response. */
  'first_byte_milliseconds',
  'input_tokens',
  'output_tokens',
  /** A floating-point number for graphs; the ledger is exact. */
  'billed_credits',
  /** From the begin of a call of a channel to the head of its reply, or to its failure. */
  'upstream_milliseconds',
  /** Of all upstreams together, for the alarm on it. */
  'upstream_connect_error',
  /** The number of the class of an upstream error (`upstream-error-class.ts`): one metric of a channel for all classes. */
  'upstream_error',
  /** Reservations of video jobs. */
  'open_jobs',
  /** Reservations of relayed requests. */
  'open_requests',
  'oldest_open_job_seconds',
  'oldest_open_request_seconds',
] as const

/** Name of a measure. */
export type Measure = (typeof MEASURES)[number]

/** Units of CloudWatch by the end of a name; every other number is a count. */
const UNITS = {
  _seconds: 'Seconds',
  _milliseconds: 'Milliseconds',
  _bytes: 'Bytes',
  _bytes_per_second: 'Bytes/Second',
} as const

/** The unit of a measure. */
export function unitOf(name: string): (typeof UNITS)[keyof typeof UNITS] | 'Count' {
  return Object.entries(UNITS).find(([end]) => name.endsWith(end))?.[1] ?? 'Count'
}

/** Metrics that each channel has for itself; all others are of the whole service. */
export const CHANNEL_METRICS: readonly (Measure | FactMetric)[] = [
  'upstream_milliseconds',
  'upstream_error',
  'breaker_opened',
  'channel_fault',
]
