import type { Channel, RelayChannel, VideoChannel } from './channel.ts'
import type { GatewayConfig } from './gateway-config.ts'
import type { Model, RelayModel, VideoModel } from './model.ts'
import type { VideoJobRequest } from './parameters.ts'
import { applySwitches, NO_SWITCHES, type Switches } from './switches.ts'

/**
 * Lookups in a validated configuration, as the switches of operators make it. "Configured" lookups ignore switches: whether a request is
 * valid, and what becomes of an existing job, must not depend on a switch.
 */
export type Catalogue = {
  /** The configuration without the switches. */
  readonly config: GatewayConfig
  /** Finds an enabled video model that has a configured channel. */
  findVideoModel(id: string): VideoModel | undefined
  /** Finds a configured video model, enabled or not: a job that was created goes on. */
  findConfiguredVideoModel(id: string): VideoModel | undefined
  /** Finds a configured channel. A disabled one is found too, because its open jobs are still polled. */
  findVideoChannel(id: string): VideoChannel | undefined
  /**
   * The channels of a model that take new jobs, lowest priority number first; with `directOnly`, only those that take reference audio
   * and video.
   */
  videoChannels(modelId: string, options: { directOnly: boolean }): readonly VideoChannel[]
  /** The same with the channels that an operator has disabled. */
  configuredVideoChannels(modelId: string, options: { directOnly: boolean }): readonly VideoChannel[]
  /** Finds an enabled model of a kind. @param allowed ids that the key may use; null for all. */
  findRelayModel<Kind extends RelayModel['kind']>(
    id: string,
    options: { kind: Kind; allowed: readonly string[] | null },
  ): Extract<RelayModel, { kind: Kind }> | undefined
  /** The channels of a relayed model that take new requests, in the order of the configuration. */
  relayChannels(modelId: string): readonly RelayChannel[]
  /** The same with the channels that an operator has disabled. */
  configuredRelayChannels(modelId: string): readonly RelayChannel[]
  /** Every enabled model that a key may use, in the order of the configuration. */
  listModels(allowed: readonly string[] | null): readonly Model[]
}

/** Creates the lookups of a validated configuration under the switches of operators. */
export function createCatalogue(config: GatewayConfig, switches: Switches = NO_SWITCHES): Catalogue {
  const switched = switches === NO_SWITCHES ? config : applySwitches(config, switches)
  return {
    config,
    ...videoLookups(config, switched),
    ...relayLookups(config, switched),
  }
}

type VideoLookups = Pick<
  Catalogue,
  'findVideoModel' | 'findConfiguredVideoModel' | 'findVideoChannel' | 'videoChannels' | 'configuredVideoChannels'
>

function videoLookups(config: GatewayConfig, switched: GatewayConfig): VideoLookups {
  const configured = byPriority(config)
  const effective = byPriority(switched)
  const isServed = ({ id }: Model) => configured.some((channel) => Object.hasOwn(channel.models, id))
  const served = switched.models.filter(isVideo).filter(isServed)
  const models = new Map(served.map((model) => [model.id, model]))
  return {
    findVideoModel: (id) => {
      const model = models.get(id)
      return model?.enabled ? model : undefined
    },
    findConfiguredVideoModel: (id) => models.get(id),
    findVideoChannel: (id) => configured.find((channel) => channel.id === id),
    videoChannels: channelsOfModel(effective),
    configuredVideoChannels: channelsOfModel(configured),
  }
}

function byPriority({ channels }: GatewayConfig): VideoChannel[] {
  return channels
    .filter((channel) => channel.provider !== 'openai')
    .toSorted((left, right) => left.priority - right.priority)
}

function channelsOfModel(channels: readonly VideoChannel[]): Catalogue['videoChannels'] {
  return (modelId, { directOnly }) =>
    channels.filter((channel) => Object.hasOwn(channel.models, modelId) && (!directOnly || servesMultimodal(channel)))
}

type RelayLookups = Pick<Catalogue, 'findRelayModel' | 'relayChannels' | 'configuredRelayChannels' | 'listModels'>

function relayLookups(config: GatewayConfig, switched: GatewayConfig): RelayLookups {
  const enabled = switched.models.filter((model) => model.enabled)
  const byId = new Map(enabled.map((model) => [model.id, model]))
  const effective = relayChannelsByModel(enabled, switched)
  const configured = switched === config ? effective : relayChannelsByModel(enabled, config)
  return {
    findRelayModel: (id, { kind, allowed }) => {
      const model = byId.get(id)
      return model !== undefined && isOfKind(model, kind) && isAllowed(id, allowed) ? model : undefined
    },
    relayChannels: (modelId) => effective.get(modelId) ?? [],
    configuredRelayChannels: (modelId) => configured.get(modelId) ?? [],
    listModels: (allowed) => enabled.filter(({ id }) => isAllowed(id, allowed)),
  }
}

function relayChannelsByModel(
  models: readonly Model[],
  { channels }: GatewayConfig,
): ReadonlyMap<string, readonly RelayChannel[]> {
  const relayed = channels.filter((channel) => channel.provider === 'openai')
  return new Map(models.map(({ id }) => [id, relayed.filter((channel) => Object.hasOwn(channel.models, id))]))
}

function isVideo(model: Model): model is VideoModel {
  return model.kind === 'video'
}

function isOfKind<Kind extends Model['kind']>(model: Model, kind: Kind): model is Extract<Model, { kind: Kind }> {
  return model.kind === kind
}

function isAllowed(id: string, allowed: readonly string[] | null): boolean {
  return allowed === null || allowed.includes(id)
}

/** Where a provider can be reached by several routes, only the direct one takes reference audio and video. */
function servesMultimodal(channel: VideoChannel): boolean {
  return !('route' in channel) || channel.route === 'direct'
}

/** Whether the references of a request require a channel that takes reference audio and video. */
export function needsDirectRoute(request: Pick<VideoJobRequest, 'audio_urls' | 'video_urls'>): boolean {
  return request.audio_urls.length > 0 || request.video_urls.length > 0
}

/**
 * The upstream's id of a model on a channel; some upstreams have separate ids for text and for image input.
 * @throws RangeError if the channel does not serve the model.
 */
export function upstreamModelId(channel: VideoChannel, request: Pick<VideoJobRequest, 'model' | 'image_urls'>): string {
  const id = channel.models[request.model]
  if (id === undefined) {
    throw new RangeError(`channel ${channel.id} does not serve ${request.model}`)
  }
  return typeof id === 'string' ? id : request.image_urls.length > 0 ? id.image : id.text
}

/**
 * The name in `${NAME}` of a channel's `api_key`; undefined for an upstream without a key. A file separate from the schema, so
 * that functions that look up a key do not load the validation of the configuration.
 */
export function credentialName(channel: Pick<Channel, 'api_key'>): string | undefined {
  return /^\$\{(.+)\}$/.exec(channel.api_key)?.[1]
}

/**
 * The order in which a job is offered to channels: the lowest priority number first; among equals a weighted draw, so that
 * each comes first in proportion to its weight.
 * @param random returns numbers from 0 up to 1.
 */
export function submitChannelOrder(channels: readonly VideoChannel[], random: () => number): VideoChannel[] {
  const drawn = channels.map((channel) => ({ channel, ticket: -Math.log(1 - random()) / channel.weight }))
  return drawn
    .toSorted((left, right) => left.channel.priority - right.channel.priority || left.ticket - right.ticket)
    .map(({ channel }) => channel)
}
