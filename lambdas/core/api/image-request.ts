import * as z from 'zod'
import { type AllowedFields, keepAllowedFields, type PassedBody } from '../allowed-fields.ts'
import type { ImageModel } from '../catalogue/model.ts'
import { InvalidRequestError, type RequestIssue } from '../errors.ts'
import { spliceInjected, withoutFields } from '../json/json-fields.ts'
import { type Offered, parseBody, requestedModel } from './request-issues.ts'

/** What decides the price of an image request, with defaults. */
export type ImageRequest = {
  readonly model: ImageModel
  /** Number of images. */
  readonly count: number
  readonly size: string
  /** Undefined for a model that has no qualities. */
  readonly quality: string | undefined
}

const COMPRESSION_MESSAGE = '`output_compression` must be an integer from 0 to 100'
const N_MESSAGE = '`n` must be an integer of 1 or more'

/** SDKs send `null` for a parameter that is not set. The limits of the model are checked afterwards. */
export const imageBodySchema = z.looseObject(
  {
    model: z.string('`model` must be a string: the id of an image model'),
    prompt: z
      .string('`prompt` must be a string')
      .refine((text) => text.trim() !== '', { message: '`prompt` must not be empty' }),
    n: z.number(N_MESSAGE).int(N_MESSAGE).min(1, N_MESSAGE).nullish(),
    size: z.string('`size` must be a string such as 1024x1024').nullish(),
    quality: z.string('`quality` must be a string').nullish(),
    style: z.string('`style` must be a string').nullish(),
    response_format: z.enum(['url', 'b64_json'], '`response_format` must be url or b64_json').nullish(),
    // No price covers a GIF, which has several frames, or an SVG, which another model makes.
    output_format: z.enum(['png', 'jpeg', 'webp'], '`output_format` must be png, jpeg or webp').nullish(),
    output_compression: z
      .number(COMPRESSION_MESSAGE)
      .int(COMPRESSION_MESSAGE)
      .min(0, COMPRESSION_MESSAGE)
      .max(100, COMPRESSION_MESSAGE)
      .nullish(),
    user: z.string('`user` must be a string').nullish(),
    // Some upstreams obey this parameter, which openapi.json lacks, and a streamed response could not be billed.
    stream: z.literal(false, '`stream` must be false or left out: images are not streamed').nullish(),
  },
  'the body must be a JSON object',
)

type ImageBody = z.infer<typeof imageBodySchema>

/**
 * Checks the body of `POST /v1/images/generations` against the limits of its model. `allowed-fields.ts` lists all that pass
 * upstream.
 * @throws InvalidRequestError naming each field to correct; ModelNotFoundError. Both come before any reservation.
 */
export function parseImageRequest(json: unknown, offered: Offered): ImageRequest {
  const body = parseBody(imageBodySchema, json)
  const model = requestedModel(body.model, 'image', offered)
  const size = ownName('size', body.size, model)
  const quality = ownName('quality', body.quality, model)
  const issues = capabilityIssues({ ...body, size, quality }, model)
  if (issues.length > 0) {
    throw new InvalidRequestError(issues)
  }
  return {
    model,
    count: body.n ?? COUNT_DEFAULT,
    size: size ?? defaultSize(model),
    quality: model.qualities.length === 0 ? undefined : (quality ?? defaultQuality(model)),
  }
}

type ImageCall = {
  readonly upstreamModel: string
  readonly image: ImageRequest
  /** The fields that pass to the channel. */
  readonly allowed: AllowedFields
}

/**
 * The body for an upstream: the client's fields that pass, the upstream's model id, and explicit values for everything that
 * decides the price, so that the upstream's defaults cannot differ from what is billed. `quality` and `style` are left out
 * for a model that has none, because its upstream may not know the parameter.
 */
export function imageRequestBody(bodyText: string, { upstreamModel, image, allowed }: ImageCall): PassedBody {
  const { model, count, size, quality } = image
  const passed = keepAllowedFields(bodyText, allowed)
  const unknown = CHOICES_WITH_DEFAULT.filter((path) => model[OFFERED_IN[path]].length === 0)
  const text = unknown.length === 0 ? passed.text : withoutFields(passed.text, new Set(unknown))
  return { text: spliceInjected(text, { model: upstreamModel, n: count, size, quality }), ignored: passed.ignored }
}

/** Interface, images: `n`. */
const COUNT_DEFAULT = 1

/** The default size of the OpenAI API. A model without this size gets its last and largest. */
const SIZE_DEFAULT = '1024x1024'

function defaultSize({ sizes }: ImageModel): string {
  return sizes.includes(SIZE_DEFAULT) ? SIZE_DEFAULT : (sizes.at(-1) ?? SIZE_DEFAULT)
}

/** Interface, images: `standard` is the default of `quality`; a model of the newer names calls it `medium`. */
function defaultQuality({ qualities }: ImageModel): string | undefined {
  return qualities.find((quality) => quality === 'standard' || quality === 'medium') ?? qualities[0]
}

/** What other models call the same, by the name that a client may send. */
const SYNONYMS: Readonly<Record<string, string>> = {
  '1536x1024': '1792x1024',
  '1792x1024': '1536x1024',
  '1024x1536': '1024x1792',
  '1024x1792': '1024x1536',
  low: 'standard',
  medium: 'standard',
  high: 'hd',
  standard: 'medium',
  hd: 'high',
}

/** The model's own name for a chosen size or quality; undefined for its default, and the name as it came where the model has no such thing. */
function ownName(path: 'size' | 'quality', chosen: string | null | undefined, model: ImageModel): string | undefined {
  if (chosen === undefined || chosen === null || chosen === 'auto') {
    return undefined
  }
  const offered = choicesOf(path, model)
  const names = [chosen, ...(Object.hasOwn(SYNONYMS, chosen) ? [SYNONYMS[chosen]] : [])]
  return names.find((name) => name !== undefined && offered.includes(name)) ?? chosen
}

function capabilityIssues(body: ImageBody, model: ImageModel): RequestIssue[] {
  const issues: RequestIssue[] = [
    ...choiceIssues('size', body.size, model),
    ...choiceIssues('quality', body.quality, model),
    ...choiceIssues('style', body.style, model),
  ]
  const promptMax = model.max_prompt_characters
  if (promptMax !== undefined && !isShortEnough(body.prompt, promptMax)) {
    issues.unshift({ path: 'prompt', message: `\`prompt\` must be at most ${promptMax} characters for ${model.id}` })
  }
  if ((body.n ?? COUNT_DEFAULT) > model.n.max) {
    const allowed = model.n.max === 1 ? '1' : `from 1 to ${model.n.max}`
    issues.push({ path: 'n', message: `\`n\` must be ${allowed} for ${model.id}` })
  }
  return issues
}

const OFFERED_IN = { size: 'sizes', quality: 'qualities', style: 'styles' } as const

/** Interface, images: the default, which every model accepts; only image-v3 has another value. */
const DEFAULTS = { quality: 'standard', style: 'vivid' } as const

const CHOICES_WITH_DEFAULT = ['quality', 'style'] as const

function choiceIssues(
  path: keyof typeof OFFERED_IN,
  chosen: string | null | undefined,
  model: ImageModel,
): RequestIssue[] {
  const offered = choicesOf(path, model)
  if (chosen === undefined || chosen === null || offered.includes(chosen)) {
    return []
  }
  const allowed = offered.length === 1 ? offered.join() : `one of ${offered.join(', ')}`
  return [{ path, message: `\`${path}\` must be ${allowed} for ${model.id}` }]
}

/** A model without choices accepts the default. */
function choicesOf(path: keyof typeof OFFERED_IN, model: ImageModel): readonly string[] {
  const offered = model[OFFERED_IN[path]]
  return offered.length === 0 && path !== 'size' ? [DEFAULTS[path]] : offered
}

/** A character is a code point of one or two UTF-16 units, so characters are counted only between these bounds. */
function isShortEnough(text: string, charactersMax: number): boolean {
  if (text.length <= charactersMax) {
    return true
  }
  return text.length <= 2 * charactersMax && [...text].length <= charactersMax
}
