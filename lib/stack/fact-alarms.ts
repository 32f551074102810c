import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { AlarmDefinition } from './alarm-definition.ts'
import type { ServiceMetrics } from './metrics.ts'

const MINUTES = 5
const HOUR = 60

/** Alarms on the facts and measures of the functions. The runbook explains each threshold. */
export function factAlarms(metrics: ServiceMetrics, config: GatewayConfig): readonly AlarmDefinition[] {
  return [
    ...singleFactAlarms(metrics, config),
    ...moneyAlarms(metrics),
    ...jobAlarms(metrics),
    ...upstreamAlarms(metrics),
    ...reconcileFactAlarms(metrics, config),
  ]
}

/** One of these is enough; the log line names the fact (`SHARED_METRICS` of `counted-facts.ts`). */
function singleFactAlarms(metrics: ServiceMetrics, { channels }: GatewayConfig): readonly AlarmDefinition[] {
  return [
    {
      name: 'ServiceFault',
      meaning: 'A job failed with an unexpected error, or a reservation was resolved a second time, differently.',
      metric: metrics.sum('service_fault', MINUTES),
      threshold: 1,
    },
    {
      name: 'Irregularity',
      meaning: 'An upstream may be making a video for no job, an alert was not delivered, or a count was corrected.',
      metric: metrics.sum('irregularity', MINUTES),
      threshold: 1,
    },
    ...channels.map(({ id }) => ({
      name: 'ChannelFault',
      meaning: 'An upstream refuses a channel, or replies with what the gateway does not accept.',
      channel: id,
      metric: metrics.sumOfChannel('channel_fault', { channel: id, minutes: MINUTES }),
      threshold: 1,
    })),
  ]
}

function moneyAlarms(metrics: ServiceMetrics): readonly AlarmDefinition[] {
  return [
    {
      name: 'Overdraft',
      meaning: 'Bills exceeded their reservations, so balances can fall below zero.',
      metric: metrics.sum('overdraft', HOUR),
      threshold: 5,
    },
    {
      name: 'UsageRefused',
      meaning: 'An upstream reported invalid usage; the reservations were billed instead.',
      metric: metrics.sum('usage_refused', HOUR),
      threshold: 3,
    },
    {
      name: 'BilledAtEstimate',
      meaning: 'A quarter of the bills are estimates, because upstreams reported no valid usage.',
      ...metrics.share('billed_at_estimate', {
        of: ['jobs_succeeded', 'relay_succeeded'],
        minutes: HOUR,
        atLeast: 20,
      }),
      threshold: 25,
    },
    {
      name: 'ReservationsExpired',
      meaning: 'Reservations of relayed requests that were never settled were released.',
      metric: metrics.sum('reservation_expired', 15),
      threshold: 5,
    },
  ]
}

function jobAlarms(metrics: ServiceMetrics): readonly AlarmDefinition[] {
  return [
    {
      name: 'JobsFailing',
      meaning: 'Half of the finished video jobs failed.',
      ...metrics.share('jobs_failed', { of: ['jobs_succeeded', 'jobs_failed'], minutes: 30, atLeast: 10 }),
      threshold: 50,
    },
    {
      name: 'LateTasks',
      meaning: 'Jobs reached their deadlines before their upstream finished.',
      metric: metrics.sum('late_upstream_task', HOUR),
      threshold: 5,
    },
    {
      name: 'StoreFailed',
      meaning: 'Finished videos could not be fetched or stored; each is retried for an hour.',
      metric: metrics.sum('store_failed', 15),
      threshold: 5,
    },
    {
      name: 'CallbacksFailing',
      meaning: 'Half of the callbacks were not delivered.',
      ...metrics.share('callback_failed', {
        of: ['callback_delivered', 'callback_failed'],
        minutes: HOUR,
        atLeast: 20,
      }),
      threshold: 50,
    },
  ]
}

function upstreamAlarms(metrics: ServiceMetrics): readonly AlarmDefinition[] {
  return [
    {
      name: 'UpstreamUnreachable',
      meaning: 'Connections to an upstream keep failing.',
      metric: metrics.sum('upstream_connect_error', 5),
      threshold: 10,
      periods: 3,
    },
    {
      name: 'RelayFailing',
      meaning: 'A tenth of the relayed requests fail.',
      ...metrics.share('relay_failed', { of: ['relay_succeeded', 'relay_failed'], minutes: 5, atLeast: 20 }),
      threshold: 10,
      periods: 2,
    },
  ]
}

/** Store gives up an hour after the end of the generation (`GIVE_UP_SECONDS` of `lambdas/pipeline/store-video/store-video.ts`). */
const STORE_MINUTES = 60
/** Reconcile checks an open job every ten minutes; the rest is for retries and the last steps. */
const MARGIN_MINUTES = 30

/** Reconcile runs every minute and releases a relayed request after 16 minutes. */
const OLDEST_REQUEST_SECONDS = 30 * 60

function reconcileFactAlarms(metrics: ServiceMetrics, config: GatewayConfig): readonly AlarmDefinition[] {
  return [
    {
      name: 'OldestJob',
      meaning: 'A video job has been open for longer than queueing, generating and storing can take.',
      metric: metrics.maximum('oldest_open_job_seconds', 15),
      threshold: longestJobSeconds(config),
      unit: 's',
    },
    {
      name: 'OldestRequest',
      meaning: 'A relayed request still holds its reservation, although Reconcile should have released it.',
      metric: metrics.maximum('oldest_open_request_seconds', 15),
      threshold: OLDEST_REQUEST_SECONDS,
      unit: 's',
    },
    {
      name: 'ReconcileItems',
      meaning: 'Reconcile keeps failing on the same reservations or deletions.',
      metric: metrics.sum('reconcile_failed', 5),
      threshold: 1,
      periods: 3,
    },
    {
      name: 'SummaryNotWritten',
      meaning: 'Reconcile could not write the summary of all tenants, so pages of the console are old.',
      metric: metrics.sum('summary_not_written', 5),
      threshold: 3,
      periods: 2,
    },
    {
      name: 'ExecutionsRestarted',
      meaning: 'Reconcile restarted executions that were missing or broken.',
      metric: metrics.sum('execution_restarted', 15),
      threshold: 3,
    },
  ]
}

/** For the slowest channel of the configuration. */
function longestJobSeconds({ queue_minutes, channels }: GatewayConfig): number {
  const deadlines = channels.map((channel) => ('deadline_minutes' in channel ? channel.deadline_minutes : 0))
  return (queue_minutes + Math.max(0, ...deadlines) + STORE_MINUTES + MARGIN_MINUTES) * 60
}
