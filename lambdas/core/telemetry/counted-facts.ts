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
