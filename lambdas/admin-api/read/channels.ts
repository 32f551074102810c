import { modelView } from '#core/api/model-view.ts'
import { type Catalogue, createCatalogue } from '#core/catalogue/catalogue.ts'
import type { Channel } from '#core/catalogue/channel.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { Model } from '#core/catalogue/model.ts'
import { applySwitches, type Switches, switchesOf } from '#core/catalogue/switches.ts'
import { type AllFigures, NO_CALLS } from '#core/measures.ts'
import { latestSwitch } from '#lambdas/admin/switches.ts'
import { type AdminResponse, sessionOf } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { readApiKeyModels } from '#store/keys/api-keys.ts'
import { readSwitches } from '#store/switches.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import type { ReadContext } from './read-context.ts'

/** Channels as they are now. */
export type ChannelState = {
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
export async function readChannelState({ table, config: open, figures, now }: ReadContext): Promise<ChannelState> {
  const config = open()
  const video = config.channels.filter(({ provider }) => provider !== 'openai').slice(0, CHANNELS_MAX)
  const [{ switches }, items, read] = await Promise.all([
    readSwitches(table()),
    video.length === 0 ? [] : table().readItems(video.map(({ id }) => tableKeys.channel(id))),
    figures(
      config.channels.map(({ id }) => id),
      now(),
    ),
  ])
  const openJobs = video.map(({ id }, index) => [id, Math.max(0, Number(items[index]?.open ?? 0))] as const)
  return { config, switches, figures: read, openJobs: new Map(openJobs) }
}

/** How a channel does: its switch, breaker, open jobs and last minute. */
export function channelHealth({ id, provider }: Pick<Channel, 'id' | 'provider'>, state: ChannelState) {
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
    from: Math.trunc(minuteFrom / 1000),
    requests_per_minute: requests,
    errors_per_minute: errors,
    first_byte_ms: p50 === null || p95 === null ? null : { p50, p95 },
    minutes: minutes.map(({ at, ...minute }) => ({ at: Math.trunc(at / 1000), ...minute })),
  }
}

/** Begin of the minute that the figures of channels describe, in Unix seconds; null without figures. */
export function figuresFrom({ figures }: Pick<ChannelState, 'figures'>): number | null {
  return figures?.minuteFrom === undefined ? null : Math.trunc(figures.minuteFrom / 1000)
}

/** GET /admin/v1/channels, by two requests to the table after that of the session. */
export async function getChannels(event: ApiEvent, context: ReadContext): Promise<AdminResponse> {
  const { role, keyId } = sessionOf(event)
  const body = role === 'tenant' ? await modelsOfKey(keyId ?? '', context) : await channelsAndModels(context)
  return { body: { object: 'channels', as_of: Math.trunc(context.now() / 1000), ...body } }
}

/** An API key sees the models that clients with it see, and no channel. */
async function modelsOfKey(keyId: string, { table, config: open }: ReadContext) {
  const config = open()
  const [{ switches }, allowed] = await Promise.all([readSwitches(table()), readApiKeyModels(table(), keyId)])
  const catalogue = createCatalogue(config, switches)
  const models = catalogue.listModels(allowed).map((model) => ({
    ...modelRow(model, catalogue, { config, switches }),
    ...{ channels: [], switched_by: null, switched_at: null },
  }))
  return { figures_from: null, channels: [], models, left_over_models: [] }
}

async function channelsAndModels(context: ReadContext) {
  const state = await readChannelState(context)
  const { config, switches } = state
  const catalogue = createCatalogue(config, switches)
  const known = new Set(config.channels.map(({ id }) => id))
  const left = Object.keys(switches.channels).filter((id) => !known.has(id))
  const effective = applySwitches(config, switches).models
  return {
    figures_from: figuresFrom(state),
    channels: [
      ...config.channels.map((channel) => channelRow(channel, state)),
      ...left.map((id) => leftRow(id, state)),
    ],
    models: effective.map((model) => modelRow(model, catalogue, state)),
    left_over_models: leftOverModels(state),
  }
}

function channelRow(channel: Channel, state: ChannelState) {
  const { id, provider, weight, priority, base_url } = channel
  const set = switchesOf(state.switches.channels, id)
  return {
    ...channelHealth(channel, state),
    provider,
    base_url_host: URL.canParse(base_url) ? new URL(base_url).host : null,
    weight: set?.weight?.value ?? weight,
    priority: set?.priority?.value ?? priority,
    configured: { weight, priority },
    ...latestSwitch(set),
    open_jobs_max: channel.provider === 'openai' ? null : channel.max_open_jobs,
  }
}

/** A channel that left the configuration, and whose switches wait to be cleared. */
function leftRow(id: string, { switches }: ChannelState) {
  const set = switchesOf(switches.channels, id)
  return {
    ...{ id, provider: null, base_url_host: null, configured: null, open_jobs: null, open_jobs_max: null },
    ...{ breaker: null, breaker_openings: null, figures: null, weight: null, priority: null },
    disabled: set?.enabled !== undefined,
    ...latestSwitch(set),
  }
}

/** Switches of models that left the configuration. They would hold again if the model came back. */
function leftOverModels({ config, switches }: ChannelState) {
  const known = new Set(config.models.map(({ id }) => id))
  return Object.entries(switches.models)
    .filter(([id]) => !known.has(id))
    .map(([id, set]) => ({ id, disabled: set.enabled?.value === false, ...latestSwitch(set) }))
}

function modelRow(model: Model, catalogue: Catalogue, { config, switches }: Pick<ChannelState, 'config' | 'switches'>) {
  const { id, kind, pricing, object: _, created: _created, owned_by: _owner, ...limits } = modelView(model, catalogue)
  return {
    id,
    kind,
    channels: config.channels.filter(({ models }) => Object.hasOwn(models, id)).map((channel) => channel.id),
    pricing,
    limits,
    disabled: !model.enabled,
    ...latestSwitch(switchesOf(switches.models, id)),
  }
}
