/** The facts that functions count; docs/operate.md, "What is counted", has a row for each. */
export const COUNTED_FACTS = [
  'internal_failure',
  'late_upstream_task',
  'upstream_orphan',
  'unknown_upstream_status',
  'channel_refused',
  'overdraft',
  'usage_refused',
  'usage_above_bound',
  'answer_cut_short',
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
  answer_cut_short: 'channel_fault',
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
