import { modelView } from '#core/api/model-view.ts'
import { type Catalogue, createCatalogue } from '#core/catalogue/catalogue.ts'
import type { Channel } from '#core/catalogue/channel.ts'
import type { Model } from '#core/catalogue/model.ts'
import { applySwitches, switchesOf } from '#core/catalogue/switches.ts'
import { latestSwitch } from '#lambdas/admin/switches/latest-switch.ts'
import { type AdminResponse, sessionOf } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { readApiKeyModels } from '#store/keys/api-keys.ts'
import { readSwitches } from '#store/switches.ts'
import { type ChannelState, channelHealth, figuresFrom, readChannelState } from './channel-state.ts'
import type { ReadContext } from './read-context.ts'

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
