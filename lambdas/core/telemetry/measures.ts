/**
 * What is measured besides the counted facts (`counted-facts.ts`), with CloudWatch's name of its unit; docs/operate.md, "What is measured", has a row for each.
 * Counts add up, `oldest_` and `open_` are read as maxima, all others are distributions.
 */
export const MEASURES = {
  jobs_created: 'Count',
  jobs_submitted: 'Count',
  /** From the creation to the claim that the upstream accepted. */
  queue_seconds: 'Seconds',
  /** From the submit to the first poll that was answered. */
  first_poll_seconds: 'Seconds',
  generation_seconds: 'Seconds',
  /** From the upstream's end to the poll that found it; the wait before that poll where the upstream reports no end. */
  detection_lag_seconds: 'Seconds',
  store_seconds: 'Seconds',
  stored_bytes: 'Bytes',
  store_bytes_per_second: 'Bytes/Second',
  jobs_succeeded: 'Count',
  jobs_failed: 'Count',
  /** From the creation to the end, of jobs that succeeded. */
  job_seconds: 'Seconds',
  relay_succeeded: 'Count',
  /** The gateway's or the upstreams' failure: a 5xx, or a stream that broke off. */
  relay_failed: 'Count',
  /** 4xx, from the gateway or relayed. */
  relay_rejected: 'Count',
  /** From the invocation to the head of a 2xx answer. */
  first_byte_milliseconds: 'Milliseconds',
  input_tokens: 'Count',
  output_tokens: 'Count',
  /** For graphs: the ledger is exact, this is a floating point number. */
  billed_credits: 'Count',
  upstream_connect_error: 'Count',
  upstream_timeout: 'Count',
  upstream_broken_answer: 'Count',
  upstream_odd_body: 'Count',
  upstream_rate_limited: 'Count',
  upstream_client_error: 'Count',
  upstream_server_error: 'Count',
  /** Reservations of video jobs. */
  open_jobs: 'Count',
  /** Reservations of relayed requests. */
  open_requests: 'Count',
  oldest_open_job_seconds: 'Seconds',
  oldest_open_request_seconds: 'Seconds',
} as const

/** Name of a measure. */
export type Measure = keyof typeof MEASURES
