import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics'

/** Facts that an operator counts; each is one CloudWatch metric in the embedded metric format. */
export type CountedFact =
  | 'internal_failure'
  | 'late_upstream_task'
  | 'upstream_orphan'
  | 'unknown_upstream_status'
  | 'channel_refused'
  | 'overdraft'
  | 'usage_refused'
  | 'billed_at_estimate'
  | 'resolution_conflict'
  | 'callback_delivered'
  | 'callback_failed'
  | 'execution_restarted'
  | 'channel_recounted'
  | 'reservation_expired'

/** Counts one fact now; a dimension names what it is about (a channel, a model), never a tenant or a job. */
export function count(fact: CountedFact, dimensions: Readonly<Record<string, string>> = {}): void {
  const metrics = new Metrics({ namespace: process.env.POWERTOOLS_METRICS_NAMESPACE ?? 'Reelgate', singleMetric: true })
  for (const [name, value] of Object.entries(dimensions)) {
    metrics.addDimension(name, value)
  }
  metrics.addMetric(fact, MetricUnit.Count, 1)
}
