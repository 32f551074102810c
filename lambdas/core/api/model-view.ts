import { servingApi } from '../catalogue/apis.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { ImageModel, Model, VideoModel } from '../catalogue/model.ts'
import { ASPECT_RATIOS, type MODALITIES } from '../catalogue/parameters.ts'
import { ModelNotFoundError } from '../errors.ts'
import { nearestName } from '../nearest-name.ts'
import { endpointsOfKind } from './paths.ts'

type Facts = Pick<Catalogue, 'config' | 'videoChannels' | 'configuredRelayChannels'>

/** A model as clients see it: the fields of the interface, what it takes and gives, and its prices. Nothing of its channels. */
export function modelView(model: Model, catalogue: Facts) {
  const { id, created, owned_by, kind } = model
  return {
    id,
    object: 'model' as const,
    created,
    owned_by,
    kind,
    ...abilitiesOf(model, catalogue),
    endpoints: endpointsOf(model, catalogue),
    pricing: { unit: catalogue.config.unit, billing: model.billing, prices: model.prices.map(publicPrice) },
  }
}

/** The paths of the routes that take a model: a chat model may have channels that cannot serve each of them. */
export function endpointsOf(
  { id, kind }: Model,
  catalogue: Pick<Catalogue, 'configuredRelayChannels'>,
): readonly string[] {
  const channels = kind === 'chat' ? catalogue.configuredRelayChannels(id) : []
  return endpointsOfKind(kind)
    .filter(
      ({ speaks }) =>
        speaks === undefined ||
        channels.length === 0 ||
        channels.some((channel) => servingApi(speaks, channel, id) !== undefined),
    )
    .map(({ path }) => path)
}

/** The models that a key may use, in the order of the configuration. @param allowed `null` for all. */
export function modelListView(catalogue: Catalogue, allowed: readonly string[] | null) {
  return { object: 'list' as const, data: catalogue.listModels(allowed).map((model) => modelView(model, catalogue)) }
}

/** The values of a header, by its name in lower case. */
type HeaderLines = (name: string) => readonly string[]

/** Whether a client of the Anthropic API asks, which sends a header that no other client sends, and finds fields of its own. */
function isOfMessages(headerLines: HeaderLines): boolean {
  return headerLines('x-api-key').length > 0 || headerLines('anthropic-version').length > 0
}

function messagesModel(model: ReturnType<typeof modelView>) {
  const created_at = new Date(model.created * 1_000).toISOString()
  return { ...model, type: 'model' as const, display_name: model.id, created_at }
}

/** The models for any client. */
export function modelListFor(headerLines: HeaderLines, catalogue: Catalogue, allowed: readonly string[] | null) {
  const list = modelListView(catalogue, allowed)
  if (!isOfMessages(headerLines)) {
    return list
  }
  const data = list.data.map(messagesModel)
  return { ...list, data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
}

type Asked = { readonly id: string; readonly headerLines: HeaderLines }

/** One model that a key may use. @throws ModelNotFoundError for any other id. */
export function allowedModelView({ id, headerLines }: Asked, catalogue: Catalogue, allowed: readonly string[] | null) {
  const models = new Map(catalogue.listModels(allowed).map((each) => [each.id, each]))
  const model = models.get(id)
  if (model === undefined) {
    throw new ModelNotFoundError(id, { nearest: nearestName(id, models.keys()) })
  }
  const view = modelView(model, catalogue)
  return isOfMessages(headerLines) ? messagesModel(view) : view
}

type Modality = (typeof MODALITIES)[number] | 'embedding'
type Range = { readonly min: number; readonly max: number }

type Abilities = {
  readonly context_window?: number
  readonly max_output_tokens?: number
  readonly vision?: boolean
  readonly tools?: boolean
  readonly structured_output?: boolean
  readonly input_modalities: readonly Modality[]
  readonly output_modalities: readonly Modality[]
  readonly durations?: Range
  readonly resolutions?: VideoModel['resolutions']
  readonly aspect_ratios?: typeof ASPECT_RATIOS
  readonly references?: { readonly images: Range; readonly videos: Range; readonly audios: Range }
  readonly sizes?: readonly string[]
  readonly qualities?: readonly string[]
  readonly styles?: readonly string[]
  readonly n?: Range
}

function abilitiesOf(model: Model, catalogue: Pick<Catalogue, 'videoChannels'>): Abilities {
  switch (model.kind) {
    case 'chat':
      return {
        context_window: model.context_tokens,
        max_output_tokens: model.max_output_tokens,
        input_modalities: model.input_modalities,
        output_modalities: model.output_modalities,
        vision: model.input_modalities.includes('image'),
        ...(model.tools === undefined ? {} : { tools: model.tools }),
        ...(model.structured_output === undefined ? {} : { structured_output: model.structured_output }),
      }
    case 'embedding':
      return {
        context_window: model.max_input_tokens,
        input_modalities: ['text'],
        output_modalities: ['embedding'],
      }
    case 'image':
      return imageAbilities(model)
    case 'video':
      return videoAbilities(model, catalogue)
    default:
      return model satisfies never
  }
}

function imageAbilities({ sizes, qualities, styles, n }: ImageModel): Abilities {
  return {
    input_modalities: ['text'],
    output_modalities: ['image'],
    sizes,
    ...(qualities.length === 0 ? {} : { qualities }),
    ...(styles.length === 0 ? {} : { styles }),
    n: { min: 1, max: n.max },
  }
}

function videoAbilities(model: VideoModel, catalogue: Pick<Catalogue, 'videoChannels'>): Abilities {
  const { durations, resolutions, images } = model
  // A request with such a reference is refused where no channel takes it.
  const takesAll = catalogue.videoChannels(model.id, { directOnly: true }).length > 0
  const videos = takesAll ? model.videos : NONE
  const audios = takesAll ? model.audios : NONE
  const inputs = [
    { modality: 'image' as const, ...images },
    { modality: 'video' as const, ...videos },
    { modality: 'audio' as const, ...audios },
  ]
  return {
    input_modalities: ['text', ...inputs.filter(({ max }) => max > 0).map(({ modality }) => modality)],
    output_modalities: ['video'],
    durations,
    resolutions,
    aspect_ratios: ASPECT_RATIOS,
    references: { images, videos, audios },
  }
}

const NONE = { min: 0, max: 0 } as const

/** The fields of a price row that clients see. */
const PRICE_FIELDS = [
  'price',
  'input',
  'output',
  'cached_input',
  'cached_input_explicit',
  'cache_write',
  'cache_write_1h',
  'resolution',
  'audio',
  'video_input',
  'size',
  'quality',
]

/** A row without fields that are not meant for clients, should it hold such ones one day, and without those that are not set. */
function publicPrice(row: Model['prices'][number]): Record<string, string | boolean> {
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      PRICE_FIELDS.includes(name) && value !== undefined ? [[name, value]] : [],
    ),
  )
}
