import { countOpenJobs } from '#adapters/store/jobs/channel-load.ts'
import { readSwitches } from '#adapters/store/switches/read-switches.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { type AllFigures, NO_CALLS } from '#adapters/telemetry/channel-figures.ts'
import { readCloudWatchFigures } from '#adapters/telemetry/cloudwatch-figures.ts'
import type { Channel } from '#core/catalogue/channel.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { type Switches, switchesOf } from '#core/catalogue/switches.ts'
import { stackName } from '../../config/platform-facts.ts'
import { readDeployedConfig } from '../catalogue/deployed-config.ts'
import { type Answer, formatTable } from '../command-line/answer.ts'
import type { AdminContext, Command } from '../command-line/command.ts'
import { explainFailure } from '../command-line/explain-failure.ts'
import { settingsOf } from './apply-change.ts'
import { warnOfUnservedModels } from './channel-commands.ts'
import { errorsText, latencyText } from './channel-figures.ts'
import { readLocalFigures } from './local-figures.ts'
import { settingsText } from './switch-settings.ts'

const NO_FIGURES: AllFigures = { minuteFrom: undefined, byChannel: new Map(), breakers: undefined }

/** Every channel: state, traffic of the last minute, open jobs, breaker, and who switched what. */
export const channelList: Command = {
  name: 'channel list',
  summary: 'list the channels: last minute, open jobs, breaker, and who switched what',
  details: `CALLS, ERRORS and MS (median / 95th percentile until the head of the reply) are those of the last minute. On AWS they come from
CloudWatch, are minutes late, and need the permission cloudwatch:GetMetricData. Each AWS instance has breakers of its own, which are not
shown. A disabled channel is drained when it has 0 open jobs.`,
  examples: ['channel list --local', 'channel list --stage prod --json'],
  async run(context) {
    const [config, table] = [await readDeployedConfig(context), await context.table()]
    const [{ switches }, figures, openJobs] = await Promise.all([
      readSwitches(table),
      readFigures(context, config),
      countJobs(table, config),
    ])
    warnOfUnservedModels(context, config, switches)
    return describe(channelRows(config, { switches, figures, openJobs }), figures)
  },
}

/** Switches must be shown although the figures cannot be read. */
async function readFigures(context: AdminContext, { channels }: GatewayConfig): Promise<AllFigures> {
  const now = Date.now()
  try {
    return context.local
      ? await readLocalFigures(process.env.AWS_ENDPOINT_URL_SFN ?? '', now)
      : await readCloudWatchFigures(
          stackName(context.stage),
          channels.map(({ id }) => id),
          now,
        )
  } catch (error) {
    context.warn(`errors and latency are not shown: ${explainFailure(error) ?? String(error)}`)
    return NO_FIGURES
  }
}

/** Open jobs of the video channels, by id. */
async function countJobs(table: Table, { channels }: GatewayConfig): Promise<ReadonlyMap<string, number>> {
  const video = channels.filter(({ provider }) => provider !== 'openai')
  return new Map(await Promise.all(video.map(async ({ id }) => [id, await countOpenJobs(table, id)] as const)))
}

type Read = {
  readonly switches: Switches
  readonly figures: AllFigures
  readonly openJobs: ReadonlyMap<string, number>
}

function channelRows({ channels }: GatewayConfig, read: Read) {
  const known = new Set(channels.map(({ id }) => id))
  const left = Object.keys(read.switches.channels).filter((id) => !known.has(id))
  return [...channels.map((channel) => channelRow(channel, read)), ...left.map((id) => unconfiguredRow(id, read))]
}

type Row = ReturnType<typeof channelRow> | ReturnType<typeof unconfiguredRow>

function channelRow(channel: Channel, { switches, figures, openJobs }: Read) {
  const { id, provider, weight, priority } = channel
  const set = switchesOf(switches.channels, id) ?? {}
  const { calls, errors, p50Milliseconds, p95Milliseconds } = figures.byChannel.get(id) ?? NO_CALLS
  const hasFigures = figures.minuteFrom !== undefined
  return {
    id,
    provider,
    state: set.enabled === undefined ? 'enabled' : 'disabled',
    priority: set.priority?.value ?? priority,
    configured_priority: priority,
    weight: set.weight?.value ?? weight,
    configured_weight: weight,
    open_jobs: openJobs.get(id) ?? null,
    open_jobs_max: channel.provider === 'openai' ? null : channel.max_open_jobs,
    calls: hasFigures ? calls : null,
    errors: hasFigures ? errors : null,
    p50_milliseconds: p50Milliseconds,
    p95_milliseconds: p95Milliseconds,
    breaker: provider === 'openai' && figures.breakers ? (figures.breakers.get(id) ?? 'closed') : null,
    settings: settingsOf(switches, { kind: 'channel', id }),
  }
}

/** A channel that left the configuration and whose switches wait for `channel clear`. */
function unconfiguredRow(id: string, { switches }: Read) {
  const nothing = { provider: null, priority: null, configured_priority: null, weight: null, configured_weight: null }
  const noJobs = { open_jobs: null, open_jobs_max: null, calls: null, errors: null }
  const noTimes = { p50_milliseconds: null, p95_milliseconds: null, breaker: null }
  const settings = settingsOf(switches, { kind: 'channel', id })
  return { id, state: 'not configured', ...nothing, ...noJobs, ...noTimes, settings }
}

function describe(channels: readonly Row[], { minuteFrom }: AllFigures): Answer {
  const since = minuteFrom === undefined ? null : new Date(minuteFrom).toISOString()
  const rows = channels.map((row) => [
    row.id,
    row.provider,
    row.state,
    effectiveText(row.priority, row.configured_priority),
    effectiveText(row.weight, row.configured_weight),
    row.open_jobs === null ? null : `${row.open_jobs} of ${row.open_jobs_max}`,
    row.calls === null ? null : String(row.calls),
    row.errors === null ? null : errorsText(row.errors),
    latencyText({ ...NO_CALLS, p50Milliseconds: row.p50_milliseconds, p95Milliseconds: row.p95_milliseconds }),
    row.breaker,
    settingsText(row.settings),
  ])
  const header = [
    'CHANNEL',
    'PROVIDER',
    'STATE',
    'PRIORITY',
    'WEIGHT',
    'OPEN JOBS',
    'CALLS',
    'ERRORS',
    'MS',
    'BREAKER',
    'SWITCHED',
  ]
  const minute = since === null ? 'no figures of the last minutes' : `figures of the minute from ${since}`
  return { json: { minute_from: since, channels }, text: `${formatTable(header, rows)}\n\n${minute}` }
}

/** The value in force, and the configured one where they differ. */
function effectiveText(value: number | null, configured: number | null): string | null {
  if (value === null) {
    return null
  }
  return value === configured ? String(value) : `${value} (configured ${configured})`
}
