import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { AlarmDefinition } from './alarm-definition.ts'
import { channelAlarms } from './channel-alarms.ts'
import type { ServiceMetrics } from './service-metrics.ts'

const HOUR = 60

/** Alarms on what the functions count and measure. The reason of each threshold is in the runbook. */
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
      meaning: 'A reservation was to be resolved in two ways; the first one stands.',
      metric: metrics.sum('resolution_conflict', 5),
      threshold: 1,
    },
    {
      name: 'UpstreamOrphan',
      meaning:
        'A submit has an unknown outcome or came too late: an upstream may be generating what nobody will fetch.',
      metric: metrics.sum('upstream_orphan', 5),
      threshold: 1,
    },
    {
      name: 'Overdraft',
      meaning: 'Bills were above their reservations, so that balances can fall below zero.',
      metric: metrics.sum('overdraft', HOUR),
      threshold: 5,
    },
    {
      name: 'UsageRefused',
      meaning: 'An upstream reports usages that cannot be; the reservations were billed instead.',
      metric: metrics.sum('usage_refused', HOUR),
      threshold: 3,
    },
    {
      name: 'BilledAtEstimate',
      meaning: 'A quarter of what was billed was billed without a usage that can be believed.',
      metric: metrics.share('billed_at_estimate', {
        of: ['jobs_succeeded', 'relay_succeeded'],
        minutes: HOUR,
        atLeast: 20,
      }),
      threshold: 25,
    },
    {
      name: 'ReservationsExpired',
      meaning: 'Reservations of relayed requests were given back because nobody settled them.',
      metric: metrics.sum('reservation_expired', 15),
      threshold: 5,
    },
  ]
}

function jobAlarms(metrics: ServiceMetrics): readonly AlarmDefinition[] {
  return [
    {
      name: 'InternalFailure',
      meaning: 'A job failed by an error that no step means to throw; its reservation was released.',
      metric: metrics.sum('internal_failure', 5),
      threshold: 1,
    },
    {
      name: 'JobsFailing',
      meaning: 'Half of the video jobs that ended have failed.',
      metric: metrics.share('jobs_failed', { of: ['jobs_succeeded', 'jobs_failed'], minutes: 30, atLeast: 10 }),
      threshold: 50,
    },
    {
      name: 'LateTasks',
      meaning: 'Jobs meet their deadlines before their upstream is done.',
      metric: metrics.sum('late_upstream_task', HOUR),
      threshold: 5,
    },
    {
      name: 'StoreFailed',
      meaning: 'Finished videos could not be fetched or stored; each is tried again for an hour.',
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
      meaning: 'An upstream uses a status word that no table lists; its jobs wait for their deadlines.',
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

/** Store gives up an hour after the upstream was done (`GIVE_UP_SECONDS` of `lambdas/pipeline/store-video/store-video.ts`). */
const STORE_MINUTES = 60
/** Reconcile comes by an open job every ten minutes; the rest is for retries and the last steps. */
const MARGIN_MINUTES = 30

/** Reconcile gives a request back when it is 16 minutes old, and looks every minute. */
const OLDEST_REQUEST_SECONDS = 30 * 60

function reconcileFactAlarms(metrics: ServiceMetrics, config: GatewayConfig): readonly AlarmDefinition[] {
  return [
    {
      name: 'OldestJob',
      meaning: 'A video job is open for longer than queue, generation and storing can take.',
      metric: metrics.maximum('oldest_open_job_seconds', 15),
      threshold: longestJobSeconds(config),
    },
    {
      name: 'OldestRequest',
      meaning: 'A relayed request holds its reservation although Reconcile should have given it back.',
      metric: metrics.maximum('oldest_open_request_seconds', 15),
      threshold: OLDEST_REQUEST_SECONDS,
    },
    {
      name: 'ReconcileItems',
      meaning: 'Reconcile fails again and again on single reservations or deletions.',
      metric: metrics.sum('reconcile_failed', 5),
      threshold: 1,
      periods: 3,
    },
    {
      name: 'ExecutionsRestarted',
      meaning: 'Reconcile had to start executions that were missing or broke.',
      metric: metrics.sum('execution_restarted', 15),
      threshold: 3,
    },
    {
      name: 'ChannelRecounted',
      meaning: 'The count of open jobs of a channel was wrong and was mended.',
      metric: metrics.sum('channel_recounted', HOUR),
      threshold: 1,
    },
  ]
}

/** By the slowest channel of the configuration. */
function longestJobSeconds({ queue_minutes, channels }: GatewayConfig): number {
  const deadlines = channels.map((channel) => ('deadline_minutes' in channel ? channel.deadline_minutes : 0))
  return (queue_minutes + Math.max(0, ...deadlines) + STORE_MINUTES + MARGIN_MINUTES) * 60
}
