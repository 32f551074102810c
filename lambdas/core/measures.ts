/** The value of the dimension `service` of every metric of the functions, and the name of the service in their log lines. */
export const SERVICE_NAME = 'reelgate'

/**
 * The measures besides the counted facts; `lib/stack/metric-definitions.ts` says what each is. Counts are summed, `oldest_` and `open_` are
 * read as maxima, all others are distributions.
 */
export const MEASURES = [
  'jobs_created',
  'jobs_submitted',
  'queue_seconds',
  'first_poll_seconds',
  'generation_seconds',
  'detection_lag_seconds',
  'store_seconds',
  'stored_bytes',
  'store_bytes_per_second',
  'jobs_succeeded',
  'jobs_failed',
  'job_seconds',
  'relay_succeeded',
  'relay_failed',
  'relay_rejected',
  'first_byte_milliseconds',
  'input_tokens',
  'output_tokens',
  'billed_credits',
  'upstream_milliseconds',
  'upstream_connect_error',
  'upstream_error',
  'open_jobs',
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

/** The facts that functions count; `lib/stack/metric-definitions.ts` says what each means. */
export const COUNTED_FACTS = [
  'internal_failure',
  'late_upstream_task',
  'upstream_orphan',
  'unknown_upstream_status',
  'channel_refused',
  'overdraft',
  'usage_refused',
  'usage_above_bound',
  'reply_cut_short',
  'breaker_opened',
  'result_refused',
  'billed_at_estimate',
  'resolution_conflict',
  'callback_delivered',
  'callback_failed',
  'execution_restarted',
  'channel_recounted',
  'reservation_expired',
  'reconcile_failed',
  'alert_raised',
  'alert_undelivered',
  'summary_not_written',
  'store_failed',
  'reference_refused',
  'reference_unread',
  'sign_in_refused',
  'console_failed',
] as const

/** Name of a counted fact. */
export type CountedFact = (typeof COUNTED_FACTS)[number]

/**
 * Facts of which one is enough to look into share a metric and its alarm, because CloudWatch bills each metric and each alarm. The log
 * line names the fact. `service_fault` should wake somebody, `irregularity` can wait, `channel_fault` is counted for each channel, and
 * `routine_fact` has no alarm.
 */
const SHARED_METRICS = {
  internal_failure: 'service_fault',
  resolution_conflict: 'service_fault',
  upstream_orphan: 'irregularity',
  channel_recounted: 'irregularity',
  alert_undelivered: 'irregularity',
  channel_refused: 'channel_fault',
  unknown_upstream_status: 'channel_fault',
  usage_above_bound: 'channel_fault',
  reply_cut_short: 'channel_fault',
  result_refused: 'channel_fault',
  reference_refused: 'routine_fact',
  reference_unread: 'routine_fact',
  alert_raised: 'routine_fact',
} as const satisfies Partial<Record<CountedFact, string>>

type Shared = typeof SHARED_METRICS

/** Name of the metric of a fact. */
export type FactMetric = Exclude<CountedFact, keyof Shared> | Shared[keyof Shared]

/** The metric that counts a fact. */
export function metricOfFact(fact: CountedFact): FactMetric {
  return isShared(fact) ? SHARED_METRICS[fact] : fact
}

function isShared(fact: CountedFact): fact is keyof Shared {
  return fact in SHARED_METRICS
}

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

/**
 * The classes of upstream errors. `connect_error`: no byte of the request was sent. `timeout`: no reply in time. `broken_reply`:
 * the connection ended before the reply did. `odd_body`: a success that does not follow its wire contract. The others are by
 * status: 429, other 4xx, 5xx.
 */
export const UPSTREAM_ERROR_CLASSES = [
  'connect_error',
  'timeout',
  'broken_reply',
  'odd_body',
  'rate_limited',
  'http_4xx',
  'http_5xx',
] as const

/** One class of upstream errors. */
export type UpstreamErrorClass = (typeof UPSTREAM_ERROR_CLASSES)[number]

/** The number of a class in the metric `upstream_error`. */
export function numberOfErrorClass(errorClass: UpstreamErrorClass): number {
  return UPSTREAM_ERROR_CLASSES.indexOf(errorClass) + 1
}

/** What one channel did in one minute. */
export type ChannelFigures = {
  /** Calls of the upstream: relayed requests, submits, polls and cancels. */
  readonly calls: number
  readonly errors: Readonly<Partial<Record<UpstreamErrorClass, number>>>
  /** From the begin of a call to the head of its reply, or to its failure; null without a call. */
  readonly p50Milliseconds: number | null
  readonly p95Milliseconds: number | null
}

/** The figures of every channel and of the clients, and the minutes that they describe. */
export type AllFigures = {
  /** Begin of the minute, in Unix milliseconds; undefined if there are no figures. */
  readonly minuteFrom: number | undefined
  readonly byChannel: ReadonlyMap<string, ChannelFigures>
  /** State of the breaker by channel; undefined where every instance has breakers of its own. */
  readonly breakers: ReadonlyMap<string, 'closed' | 'open' | 'half_open'> | undefined
  /** How often the breakers of a channel opened in the last hour, over all instances. */
  readonly breakerOpenings?: ReadonlyMap<string, number> | undefined
  /** Undefined where it is not known. */
  readonly traffic?: ClientTraffic | undefined
  /** Of the channels without a key; undefined where every instance has credentials of its own. */
  readonly credentials?: ReadonlyMap<string, CredentialState> | undefined
}

/** How the credentials of a channel are. */
export type CredentialState = {
  /** When they end, in Unix milliseconds; null where nobody says. */
  readonly expiresAt: number | null
  /** Why there are none. */
  readonly problem: string | null
}

/** A channel without traffic. */
export const NO_CALLS: ChannelFigures = { calls: 0, errors: {}, p50Milliseconds: null, p95Milliseconds: null }
