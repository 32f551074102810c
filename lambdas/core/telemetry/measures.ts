import type { FactMetric } from './counted-facts.ts'

/**
 * The measures besides the counted facts (`counted-facts.ts`), with their CloudWatch units; docs/operate.md, "What is measured",
 * has a row for each. Counts are summed, `oldest_` and `open_` are read as maxima, all others are distributions.
 */
export const MEASURES = {
  jobs_created: 'Count',
  jobs_submitted: 'Count',
  /** From the creation to the claim of the accepted submit. */
  queue_seconds: 'Seconds',
  /** From the submit to the first poll with a reply. */
  first_poll_seconds: 'Seconds',
  generation_seconds: 'Seconds',
  /** From the end of the generation to the poll that found it, or the wait before that poll if the upstream reports no end. */
  detection_lag_seconds: 'Seconds',
  store_seconds: 'Seconds',
  stored_bytes: 'Bytes',
  store_bytes_per_second: 'Bytes/Second',
  jobs_succeeded: 'Count',
  jobs_failed: 'Count',
  /** From the creation to the end, of jobs that succeeded. */
  job_seconds: 'Seconds',
  relay_succeeded: 'Count',
  /** Failures of the gateway or of upstreams: 5xx, or an incomplete stream. */
  relay_failed: 'Count',
  /** 4xx, from the gateway or relayed. */
  relay_rejected: 'Count',
  /** From the invocation to the head of a 2xx response. */
  first_byte_milliseconds: 'Milliseconds',
  input_tokens: 'Count',
  output_tokens: 'Count',
  /** A floating-point number for graphs; the ledger is exact. */
  billed_credits: 'Count',
  /** From the begin of a call of a channel to the head of its reply, or to its failure. */
  upstream_milliseconds: 'Milliseconds',
  /** Of all upstreams together, for the alarm on it. */
  upstream_connect_error: 'Count',
  /** The number of the class of an upstream error (`upstream-error-class.ts`): one metric of a channel for all classes. */
  upstream_error: 'None',
  /** Reservations of video jobs. */
  open_jobs: 'Count',
  /** Reservations of relayed requests. */
  open_requests: 'Count',
  oldest_open_job_seconds: 'Seconds',
  oldest_open_request_seconds: 'Seconds',
} as const

/** Name of a measure. */
export type Measure = keyof typeof MEASURES

/** Metrics that each channel has for itself; all others are of the whole service. */
export const CHANNEL_METRICS: readonly (Measure | FactMetric)[] = [
  'upstream_milliseconds',
  'upstream_error',
  'breaker_opened',
  'channel_fault',
]
