import type { VideoJobRequest } from '../parameters/video-parameters.ts'
import type { RelayChannel, VideoChannel } from './channel.ts'
import type { GatewayConfig } from './gateway-config.ts'
import type { Model, RelayModel, VideoModel } from './model.ts'

/** Lookups in a validated configuration. */
export type Catalogue = {
  readonly config: GatewayConfig
  /** Finds an enabled video model that has a channel. */
  findVideoModel(id: string): VideoModel | undefined
  findVideoChannel(id: string): VideoChannel | undefined
  /** The channels of a model, lowest priority number first; with `directOnly`, only those that take reference audio and video. */
  videoChannels(modelId: string, options: { directOnly: boolean }): readonly VideoChannel[]
  /** Finds an enabled model of a kind. @param allowed ids that the key may use; null for all. */
  findRelayModel<Kind extends RelayModel['kind']>(
    id: string,
    options: { kind: Kind; allowed: readonly string[] | null },
  ): Extract<RelayModel, { kind: Kind }> | undefined
  /** The channels of a relayed model, in the order of the configuration. */
  relayChannels(modelId: string): readonly RelayChannel[]
  /** Every enabled model that a key may use, in the order of the configuration. */
  listModels(allowed: readonly string[] | null): readonly Model[]
}

/** Creates the lookups of a validated configuration. */
export function createCatalogue(config: GatewayConfig): Catalogue {
  const channels = config.channels.filter((channel) => channel.provider !== 'openai')
  const byPriority = channels.toSorted((left, right) => left.priority - right.priority)
  const models = new Map<string, VideoModel>()
  for (const model of config.models) {
    if (
      model.kind === 'video' &&
      model.enabled &&
      channels.some((channel) => Object.hasOwn(channel.models, model.id))
    ) {
      models.set(model.id, model)
    }
  }
  const relay = relayLookups(config)
  return {
    config,
    ...relay,
    findVideoModel: (id) => models.get(id),
    findVideoChannel: (id) => channels.find((channel) => channel.id === id),
    videoChannels: (modelId, { directOnly }) =>
      byPriority.filter(
        (channel) => Object.hasOwn(channel.models, modelId) && (!directOnly || servesMultimodal(channel)),
      ),
  }
}

function relayLookups(config: GatewayConfig): Pick<Catalogue, 'findRelayModel' | 'relayChannels' | 'listModels'> {
  const enabled = config.models.filter((model) => model.enabled)
  const byId = new Map(enabled.map((model) => [model.id, model]))
  const channels = new Map(
    enabled.map(({ id }) => [
      id,
      config.channels.filter(
        (channel): channel is RelayChannel => channel.provider === 'openai' && Object.hasOwn(channel.models, id),
      ),
    ]),
  )
  return {
    findRelayModel: (id, { kind, allowed }) => {
      const model = byId.get(id)
      return model !== undefined && isOfKind(model, kind) && isAllowed(id, allowed) ? model : undefined
    },
    relayChannels: (modelId) => channels.get(modelId) ?? [],
    listModels: (allowed) => enabled.filter(({ id }) => isAllowed(id, allowed)),
  }
}

function isOfKind<Kind extends Model['kind']>(model: Model, kind: Kind): model is Extract<Model, { kind: Kind }> {
  return model.kind === kind
}

function isAllowed(id: string, allowed: readonly string[] | null): boolean {
  return allowed === null || allowed.includes(id)
}

/** Only P1, and of P2 only the direct route, take reference audio and video. */
function servesMultimodal(channel: VideoChannel): boolean {
  return channel.provider === 'p1' || channel.route === 'direct'
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
