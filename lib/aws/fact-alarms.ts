import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { AlarmDefinition } from './alarm-definition.ts'
import { channelAlarms } from './channel-alarms.ts'
import type { ServiceMetrics } from './service-metrics.ts'

const HOUR = 60

/** Alarms on the facts and measures of the functions. The runbook explains each threshold. */
export function factAlarms(metrics: ServiceMetrics, config: GatewayConfig): readonly AlarmDefinition[] {
  return [
    ...moneyAlarms(metrics),
    ...jobAlarms(metrics),
    ...upstreamAlarms(metrics),
    ...reconcileFactAlarms(metrics, config),
    ...channelAlarms(metrics, config),
  ]
}

function moneyAlarms(metrics: ServiceMetrics): readonly AlarmDefinition[] {
  return [
    {
      name: 'ResolutionConflict',
      meaning: 'A reservation was resolved a second time, differently; the first resolution stands.',
      metric: metrics.sum('resolution_conflict', 5),
      threshold: 1,
    },
    {
      name: 'UpstreamOrphan',
      meaning:
        'A submit has an unknown outcome or was accepted too late: an upstream may be making a video for no job.',
      metric: metrics.sum('upstream_orphan', 5),
      threshold: 1,
    },
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
      metric: metrics.share('billed_at_estimate', {
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
      name: 'InternalFailure',
      meaning: 'A job failed with an unexpected error; its reservation was released.',
      metric: metrics.sum('internal_failure', 5),
      threshold: 1,
    },
    {
      name: 'JobsFailing',
      meaning: 'Half of the finished video jobs failed.',
      metric: metrics.share('jobs_failed', { of: ['jobs_succeeded', 'jobs_failed'], minutes: 30, atLeast: 10 }),
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
      metric: metrics.share('callback_failed', {
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
      name: 'ChannelRefused',
      meaning: 'An upstream refuses a channel: its key, its balance or one of its models.',
      metric: metrics.sum('channel_refused', 5),
      threshold: 1,
    },
    {
      name: 'UpstreamUnreachable',
      meaning: 'Connections to an upstream keep failing.',
      metric: metrics.sum('upstream_connect_error', 5),
      threshold: 10,
      periods: 3,
    },
    {
      name: 'UnknownUpstreamStatus',
      meaning: 'An upstream uses an unknown status; its jobs wait for their deadlines.',
      metric: metrics.sum('unknown_upstream_status', HOUR),
      threshold: 1,
    },
    {
      name: 'RelayFailing',
      meaning: 'A tenth of the relayed requests fail.',
      metric: metrics.share('relay_failed', { of: ['relay_succeeded', 'relay_failed'], minutes: 5, atLeast: 20 }),
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
    },
    {
      name: 'OldestRequest',
      meaning: 'A relayed request still holds its reservation, although Reconcile should have released it.',
      metric: metrics.maximum('oldest_open_request_seconds', 15),
      threshold: OLDEST_REQUEST_SECONDS,
    },
    {
      name: 'ReconcileItems',
      meaning: 'Reconcile keeps failing on the same reservations or deletions.',
      metric: metrics.sum('reconcile_failed', 5),
      threshold: 1,
      periods: 3,
    },
    {
      name: 'AlertsUndelivered',
      meaning: 'An alert about a budget or a balance was tried three times and did not reach its receiver.',
      metric: metrics.sum('alert_undelivered', 5),
      threshold: 1,
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
    {
      name: 'ChannelRecounted',
      meaning: 'The open-job count of a channel was wrong and has been corrected.',
      metric: metrics.sum('channel_recounted', HOUR),
      threshold: 1,
    },
  ]
}

/** For the slowest channel of the configuration. */
function longestJobSeconds({ queue_minutes, channels }: GatewayConfig): number {
  const deadlines = channels.map((channel) => ('deadline_minutes' in channel ? channel.deadline_minutes : 0))
  return (queue_minutes + Math.max(0, ...deadlines) + STORE_MINUTES + MARGIN_MINUTES) * 60
}
