import { type Channel, channelPriority, channelWeight } from '#core/catalogue/channel.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { type ChannelChange, type Switches, switchesOf } from '#core/catalogue/switches.ts'
import { type AllFigures, type ChannelFigures, NO_CALLS } from '#core/measures.ts'
import { unservedModels } from '#lambdas/admin/switches.ts'
import { DESCRIBE_CHANNELS } from '#local/aws-front.ts'
import { channelTrafficSchema } from '#local/channel-traffic.ts'
import { signRequest } from '#platform/aws/call-aws-service.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { readCloudWatchFigures } from '#platform/telemetry/cloudwatch-figures.ts'
import { countOpenJobs } from '#store/jobs/channels.ts'
import { readSwitches } from '#store/switches.ts'
import type { Table } from '#store/table/table.ts'
import { stackName } from '../../config/platform-facts.ts'
import { CommandFailedError, explainFailure } from '../failures.ts'
import { formatTable, type Output } from '../output.ts'
import { UsageError } from '../terminal.ts'
import { readDeployedConfig } from './catalogue.ts'
import type { AdminContext, Command, CommandValues } from './command.ts'
import { applyChange, clearSwitches, requireConfigured, settingsOf, settingsText } from './switches.ts'

const ID = { name: 'ID', summary: 'the channel, as the configuration names it', required: true } as const

const KEPT = 'A switch is kept over deployments until `channel clear`.'

/** Gives a channel no new work. @throws CommandFailedError for an unknown channel. */
export const channelDisable: Command = {
  name: 'channel disable',
  summary: 'give a channel no new work; its open jobs go on',
  details: `Requests go to the other channels of their models. Without another channel, a relayed request is a 503 and nothing is reserved; a
video job waits, up to \`queue_minutes\`. Open jobs of the channel are still polled, stored and settled: the channel is drained when
\`channel list\` shows 0 of them. ${KEPT}`,
  parameters: [ID],
  examples: ['channel disable p1-main --stage prod', 'channel disable chat-second --local --json'],
  run: (context, values) => change(context, { kind: 'channel', id: values.required('ID'), action: 'disable' }),
}

/** Ends a disablement. @throws CommandFailedError for an unknown channel. */
export const channelEnable: Command = {
  name: 'channel enable',
  summary: 'end `channel disable`; weight and priority stay as they were set',
  parameters: [ID],
  examples: ['channel enable p1-main --stage prod'],
  run: (context, values) => change(context, { kind: 'channel', id: values.required('ID'), action: 'enable' }),
}

/** @throws UsageError for a weight that no configuration could have; CommandFailedError for an unknown channel. */
export const channelWeightSet: Command = {
  name: 'channel weight',
  summary: 'set the share of a channel among channels of equal priority',
  details: `Replaces \`weight\` of the configuration. A session moves only if its channel loses share. ${KEPT}`,
  parameters: [ID, { name: 'N', summary: 'above 0, at most 1000, such as 0.5', required: true }],
  examples: ['channel weight chat-second 0.2 --stage prod'],
  async run(context, values) {
    const value = readNumber(
      values,
      channelWeight,
      'use a number above 0, at most 1000; `channel disable` ends all new work',
    )
    return await change(context, { kind: 'channel', id: values.required('ID'), action: 'weight', value })
  },
}

/** @throws UsageError for a priority that no configuration could have; CommandFailedError for an unknown channel. */
export const channelPrioritySet: Command = {
  name: 'channel priority',
  summary: 'set when a channel is tried: the lowest number first',
  details: `Replaces \`priority\` of the configuration. ${KEPT}`,
  parameters: [ID, { name: 'N', summary: 'from 0 to 1000', required: true }],
  examples: ['channel priority chat-second 0 --stage prod'],
  async run(context, values) {
    const value = readNumber(values, channelPriority, 'use a whole number from 0 to 1000')
    return await change(context, { kind: 'channel', id: values.required('ID'), action: 'priority', value })
  },
}

/** Ends every switch of a channel. @throws CommandFailedError for an id without switches that no channel has. */
export const channelClear: Command = {
  name: 'channel clear',
  summary: 'end every switch of a channel: the configuration decides again',
  parameters: [{ ...ID, summary: 'the channel; one that left the configuration can be cleared too' }],
  examples: ['channel clear p1-main --stage prod'],
  run: (context, values) => clearSwitches(context, { kind: 'channel', id: values.required('ID') }),
}

function readNumber(values: CommandValues, schema: typeof channelWeight, advice: string): number {
  const text = values.required('N')
  const { data } = schema.safeParse(/^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined)
  if (data === undefined) {
    throw new UsageError(`N ${text}: ${advice}`)
  }
  return data
}

async function change(context: AdminContext, asked: ChannelChange): Promise<Output> {
  const config = await readDeployedConfig(context)
  requireConfigured(config, asked)
  const { output, after } = await applyChange(context, asked)
  warnOfUnservedModels(context, config, after)
  return output
}

/** Warns if every channel of an enabled model is disabled. */
export function warnOfUnservedModels(
  context: Pick<AdminContext, 'warn'>,
  config: GatewayConfig,
  switches: Switches,
): void {
  const warning = unservedModels(config, switches)
  if (warning !== undefined) {
    context.warn(warning)
  }
}

/** The errors in one cell, the most frequent class first, such as `3 (2 timeout, 1 server_error)`. */
export function errorsText(errors: ChannelFigures['errors']): string {
  const counted = Object.entries(errors).filter(([, count]) => count > 0)
  const all = counted.reduce((sum, [, count]) => sum + count, 0)
  const classes = counted.toSorted(([, left], [, right]) => right - left).map(([name, count]) => `${count} ${name}`)
  return all === 0 ? '0' : `${all} (${classes.join(', ')})`
}

/** The latency in one cell, such as `120 / 340 ms`: the median and the 95th percentile; null without calls. */
export function latencyText({ p50Milliseconds, p95Milliseconds }: ChannelFigures): string | null {
  return p50Milliseconds === null || p95Milliseconds === null
    ? null
    : `${Math.round(p50Milliseconds)} / ${Math.round(p95Milliseconds)} ms`
}

const MINUTE_MILLISECONDS = 60_000
const RESPONSE_MILLISECONDS_MAX = 5_000

/**
 * The last minute of a running local host, over the port where it serves Step Functions, which only its own user may use.
 * @param endpoint of that port. The credentials are those of the environment, which `AdminContext.output` sets.
 * @throws CommandFailedError if the host does not know the request.
 */
export async function readLocalFigures(endpoint: string, nowMilliseconds: number): Promise<AllFigures> {
  const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = process.env
  const { host } = new URL(endpoint)
  const body = '{}'
  const unsigned = {
    host,
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': DESCRIBE_CHANNELS,
    // The host compares the signature with the digest that this header has.
    'x-amz-content-sha256': sha256Hex(body),
  }
  const scope = {
    service: 'states',
    region: 'us-east-1',
    credentials: { accessKeyId, secretAccessKey },
    nowMilliseconds,
  }
  const headers = signRequest({ headers: unsigned, body }, scope)
  const response = await fetch(endpoint, {
    method: 'POST',
    headers,
    body,
    signal: AbortSignal.timeout(RESPONSE_MILLISECONDS_MAX),
  })
  if (response.status !== 200) {
    throw new CommandFailedError(
      'the local host does not tell the figures of its channels: start it again with this version',
    )
  }
  const { channels } = channelTrafficSchema.parse(await response.json())
  const entries = Object.entries(channels)
  return {
    minuteFrom: nowMilliseconds - MINUTE_MILLISECONDS,
    byChannel: new Map(entries.map(([id, { breaker: _, ...figures }]) => [id, figures])),
    breakers: new Map(entries.flatMap(([id, { breaker }]) => (breaker === null ? [] : [[id, breaker]]))),
  }
}

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

function describe(channels: readonly Row[], { minuteFrom }: AllFigures): Output {
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
