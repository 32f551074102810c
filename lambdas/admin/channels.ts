import { modelView } from '#core/api/model-view.ts'
import { type Catalogue, createCatalogue } from '#core/catalogue/catalogue.ts'
import type { Channel } from '#core/catalogue/channel.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { type Switches, switchesOf } from '#core/catalogue/switches.ts'
import { credentialKind } from '#core/catalogue/upstream-auth.ts'
import { type AllFigures, NO_CALLS } from '#core/measures.ts'
import { isOfTenant } from '#core/roles.ts'
import type { Clock } from '#platform/clock.ts'
import { readApiKeyModels } from '#store/keys/api-keys.ts'
import { readSwitches } from '#store/switches.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { defineOperation, isoTime, type ReadServices } from './operation.ts'
import { settingsOf, stateOf, unservedModels } from './switches.ts'

/** Channels as they are now. */
type ChannelState = {
  readonly config: GatewayConfig
  readonly switches: Switches
  /** Undefined if they cannot be read. */
  readonly figures: AllFigures | undefined
  /** Of video channels, by id. */
  readonly openJobs: ReadonlyMap<string, number>
}

/** DynamoDB's bound of one read of several items. */
const CHANNELS_MAX = 100

/** Reads switches, open jobs and figures, by two requests to the table. */
export async function readChannelState({
  table,
  config: open,
  figures,
  nowMilliseconds,
}: Omit<ReadServices, 'tenants'> & Pick<Clock, 'nowMilliseconds'>): Promise<ChannelState> {
  const config = await open()
  const video = config.channels.filter(({ provider }) => provider !== 'openai').slice(0, CHANNELS_MAX)
  const [{ switches }, items, read] = await Promise.all([
    readSwitches(table),
    video.length === 0 ? [] : table.readItems(video.map(({ id }) => tableKeys.channel(id))),
    figures(
      config.channels.map(({ id }) => id),
      nowMilliseconds(),
    ),
  ])
  const openJobs = video.map(({ id }, index) => [id, Math.max(0, Number(items[index]?.open ?? 0))] as const)
  return { config, switches, figures: read, openJobs: new Map(openJobs) }
}

/** How a channel does: its switch, breaker, open jobs and last minute. */
export function channelHealth(
  { id, provider }: { readonly id: string; readonly provider: string | null },
  state: ChannelState,
) {
  const { switches, figures, openJobs } = state
  const { calls, errors, p50Milliseconds, p95Milliseconds } = figures?.byChannel.get(id) ?? NO_CALLS
  return {
    id,
    disabled: switchesOf(switches.channels, id)?.enabled !== undefined,
    // A channel that was never called has a breaker that never opened.
    breaker: provider === 'openai' && figures?.breakers ? (figures.breakers.get(id) ?? ('closed' as const)) : null,
    breaker_openings: provider === 'openai' ? (figures?.breakerOpenings?.get(id) ?? null) : null,
    open_jobs: openJobs.get(id) ?? null,
    figures:
      figures?.minuteFrom === undefined
        ? null
        : { requests: calls, errors: sumOf(errors), p50_ms: p50Milliseconds, p95_ms: p95Milliseconds },
  }
}

function sumOf(errors: Readonly<Record<string, number>>): number {
  return Object.values(errors).reduce((sum, count) => sum + count, 0)
}

/** What clients of all tenants did; null where it is not known. */
export function trafficOf({ figures }: Pick<ChannelState, 'figures'>) {
  const traffic = figures?.traffic
  if (traffic === undefined) {
    return null
  }
  const { minuteFrom, requests, errors, p50Milliseconds: p50, p95Milliseconds: p95, minutes } = traffic
  return {
    from: isoTime(minuteFrom),
    requests_per_minute: requests,
    errors_per_minute: errors,
    first_byte_ms: p50 === null || p95 === null ? null : { p50, p95 },
    minutes: minutes.map(({ at, ...minute }) => ({ at: isoTime(at), ...minute })),
  }
}

/** Begin of the minute that the figures of channels describe; null without figures. */
export function figuresFrom({ figures }: Pick<ChannelState, 'figures'>): string | null {
  return figures?.minuteFrom === undefined ? null : isoTime(figures.minuteFrom)
}

/** By two requests to the table after that of the session. Channels that left the configuration follow while they have switches. */
export const listChannels = defineOperation({
  name: 'list-channels',
  method: 'GET',
  path: '/admin/v1/channels',
  access: 'viewer',
  async run(_, context) {
    const state = await readChannelState(context)
    const { config, switches } = state
    const warning = unservedModels(config, switches)
    if (warning !== undefined) {
      context.warn(warning)
    }
    return {
      minute_from: figuresFrom(state),
      channels: idsOf(config.channels, switches.channels).map((id) => channelRow(id, state)),
      as_of: isoTime(context.nowMilliseconds()),
    }
  },
})

/** The ids of the configuration, and then those that left it while they have switches. */
function idsOf(configured: readonly { readonly id: string }[], set: Readonly<Record<string, object>>): string[] {
  return [...new Set([...configured.map(({ id }) => id), ...Object.keys(set)])]
}

function channelRow(id: string, state: ChannelState) {
  const { config, switches, figures } = state
  const channel = config.channels.find((each) => each.id === id)
  const provider: string | null = channel?.provider ?? null
  const { disabled, breaker, breaker_openings, open_jobs } = channelHealth({ id, provider }, state)
  const { weight, priority } = switchesOf(switches.channels, id) ?? {}
  const { calls, errors, p50Milliseconds, p95Milliseconds } = figures?.byChannel.get(id) ?? NO_CALLS
  const hasFigures = channel !== undefined && figures?.minuteFrom !== undefined
  return {
    id,
    provider,
    base_url_host: channel !== undefined && URL.canParse(channel.base_url) ? new URL(channel.base_url).host : null,
    state: channel === undefined ? ('not configured' as const) : stateOf(!disabled),
    priority: channel === undefined ? null : (priority?.value ?? channel.priority),
    configured_priority: channel?.priority ?? null,
    weight: channel === undefined ? null : (weight?.value ?? channel.weight),
    configured_weight: channel?.weight ?? null,
    open_jobs,
    open_jobs_max: channel === undefined || channel.provider === 'openai' ? null : channel.max_open_jobs,
    calls: hasFigures ? calls : null,
    errors: hasFigures ? errors : null,
    p50_milliseconds: p50Milliseconds,
    p95_milliseconds: p95Milliseconds,
    breaker,
    breaker_openings,
    credential: channel === undefined ? null : credentialOf(channel, figures),
    settings: settingsOf(switches, { kind: 'channel', id }),
  }
}

function credentialOf(channel: Channel, figures: AllFigures | undefined) {
  const expiresAt = figures?.credentials?.get(channel.id)?.expiresAt ?? null
  return { kind: credentialKind(channel), expires_at: expiresAt === null ? null : isoTime(expiresAt) }
}

/** A role of one tenant sees the models that its clients see, and no channel. Switches of a model that left would hold again if it came back. */
export const listModels = defineOperation({
  name: 'list-models',
  method: 'GET',
  path: '/admin/v1/models',
  access: 'tenant',
  async run(_, { table, session, config: open, nowMilliseconds }) {
    const config = await open()
    const isTenant = session !== undefined && isOfTenant(session.role)
    const [{ switches }, allowed] = await Promise.all([
      readSwitches(table),
      session?.kind === 'api_key' ? readApiKeyModels(table, session.keyId ?? '') : null,
    ])
    const catalogue = createCatalogue(config, switches)
    const ids = isTenant ? catalogue.listModels(allowed).map(({ id }) => id) : idsOf(config.models, switches.models)
    const rows = ids.map((id) => modelRow(id, catalogue, switches))
    const models = isTenant ? rows.map((row) => ({ ...row, configured: null, channels: [], settings: [] })) : rows
    return { models, as_of: isoTime(nowMilliseconds()) }
  },
})

function modelRow(id: string, catalogue: Catalogue, switches: Switches) {
  const { channels, models } = catalogue.config
  const model = models.find((each) => each.id === id)
  const view = model === undefined ? undefined : modelView(model, catalogue)
  return {
    id,
    kind: model?.kind ?? null,
    state:
      model === undefined
        ? ('not configured' as const)
        : stateOf(switchesOf(switches.models, id)?.enabled?.value ?? model.enabled),
    configured: model === undefined ? null : stateOf(model.enabled),
    channels: channels.filter((channel) => Object.hasOwn(channel.models, id)).map((channel) => channel.id),
    pricing: view === undefined ? null : { ...view.pricing, prices: view.pricing.prices as readonly object[] },
    limits: view === undefined ? null : limitsOf(view),
    settings: settingsOf(switches, { kind: 'model', id }),
  }
}

function limitsOf(view: ReturnType<typeof modelView>): Readonly<Record<string, unknown>> {
  const {
    id: _,
    kind: _kind,
    pricing: _pricing,
    object: _object,
    created: _created,
    owned_by: _owner,
    ...limits
  } = view
  return limits
}

/** The operations of channels and models that read. */
export const CHANNEL_READS = [listChannels, listModels] as const
