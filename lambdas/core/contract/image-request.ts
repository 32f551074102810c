import * as z from 'zod'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { ImageModel } from '../catalogue/model.ts'
import { InvalidRequestError, ModelNotFoundError, type RequestIssue } from '../errors.ts'
import { withoutMembers } from '../json/json-members.ts'
import { spliceInjected } from '../json/passthrough.ts'
import { keepPassingFields, type PassedBody } from '../parameters/keep-passing-fields.ts'
import type { PassingFields } from '../parameters/passing-fields.ts'
import { parseBody } from './request-issues.ts'

/** What an image request comes to, every default that has a price filled in. */
export type ImageRequest = {
  readonly model: ImageModel
  /** Images asked for. */
  readonly count: number
  readonly size: string
  /** Undefined for a model that has no qualities. */
  readonly quality: string | undefined
}

type Context = {
  readonly catalogue: Catalogue
  /** Models the key may use; null for all. */
  readonly allowedModels: readonly string[] | null
}

const COMPRESSION_SENTENCE = 'output_compression must be a whole number from 0 to 100'
const N_SENTENCE = 'n must be a whole number of 1 or more'

/** SDKs write `null` for a parameter that is not set. What a model offers is checked afterwards. */
export const imageBodySchema = z.looseObject(
  {
    model: z.string('model must be a text: the id of an image model'),
    prompt: z
      .string('prompt must be a text')
      .refine((text) => text.trim() !== '', { message: 'prompt must not be empty' }),
    n: z.number(N_SENTENCE).int(N_SENTENCE).min(1, N_SENTENCE).nullish(),
    size: z.string('size must be a text such as 1024x1024').nullish(),
    quality: z.string('quality must be a text').nullish(),
    style: z.string('style must be a text').nullish(),
    response_format: z.enum(['url', 'b64_json'], 'response_format must be url or b64_json').nullish(),
    // A GIF is made of several frames and an SVG by another model, which no price here covers.
    output_format: z.enum(['png', 'jpeg', 'webp'], 'output_format must be png, jpeg or webp').nullish(),
    output_compression: z
      .number(COMPRESSION_SENTENCE)
      .int(COMPRESSION_SENTENCE)
      .min(0, COMPRESSION_SENTENCE)
      .max(100, COMPRESSION_SENTENCE)
      .nullish(),
    user: z.string('user must be a text').nullish(),
    // Not a member of the interface, but some upstreams would obey it, with an answer that nobody here could bill.
    stream: z.literal(false, 'images are not streamed; leave stream out').nullish(),
  },
  'the body must be a JSON object',
)

type ImageBody = z.infer<typeof imageBodySchema>

/**
 * Checks the body of `POST /v1/images/generations` (interface, section of that name) against what its model offers.
 * What else passes is in `passing-fields.ts`.
 * @throws InvalidRequestError naming each member that needs mending; ModelNotFoundError. Nothing was reserved yet.
 */
export function parseImageRequest(json: unknown, { catalogue, allowedModels }: Context): ImageRequest {
  const body = parseBody(imageBodySchema, json)
  const model = catalogue.findRelayModel(body.model, { kind: 'image', allowed: allowedModels })
  if (model === undefined) {
    throw new ModelNotFoundError(body.model)
  }
  const issues = capabilityIssues(body, model)
  if (issues.length > 0) {
    throw new InvalidRequestError(issues)
  }
  return {
    model,
    count: body.n ?? COUNT_DEFAULT,
    size: body.size ?? defaultSize(model),
    quality: model.qualities.length === 0 ? undefined : (body.quality ?? defaultQuality(model)),
  }
}

type ImageCall = {
  readonly upstreamModel: string
  readonly image: ImageRequest
  /** What the channel lets pass. */
  readonly passing: PassingFields
}

/**
 * The body for an upstream: what passes of the client's own, with the upstream's model id and everything that decides the price
 * written out, so that price and product agree whatever the upstream's defaults are. A model without qualities or styles is
 * sent none, the defaults of a client neither: its upstream need not know the parameter. Else style and response format,
 * which have no price, go as the client wrote them or left them out.
 */
export function imageRequestBody(bodyText: string, { upstreamModel, image, passing }: ImageCall): PassedBody {
  const { model, count, size, quality } = image
  const passed = keepPassingFields(bodyText, passing)
  const unknown = CHOICES_WITH_DEFAULT.filter((path) => model[OFFERED_IN[path]].length === 0)
  const text = unknown.length === 0 ? passed.text : withoutMembers(passed.text, new Set(unknown))
  return { text: spliceInjected(text, { model: upstreamModel, n: count, size, quality }), ignored: passed.ignored }
}

/** Interface, images: `n`. */
const COUNT_DEFAULT = 1

/** What clients and upstreams of this field mean by no size; a model that has it not makes its last and largest. */
const SIZE_DEFAULT = '1024x1024'

function defaultSize({ sizes }: ImageModel): string {
  return sizes.includes(SIZE_DEFAULT) ? SIZE_DEFAULT : (sizes.at(-1) ?? SIZE_DEFAULT)
}

/** Interface, images: `standard` is the default of `quality`. */
function defaultQuality({ qualities }: ImageModel): string | undefined {
  return qualities.includes('standard') ? 'standard' : qualities[0]
}

function capabilityIssues(body: ImageBody, model: ImageModel): RequestIssue[] {
  const issues: RequestIssue[] = [
    ...choiceIssues('size', body.size, model),
    ...choiceIssues('quality', body.quality, model),
    ...choiceIssues('style', body.style, model),
  ]
  const promptMax = model.max_prompt_characters
  if (promptMax !== undefined && !isShortEnough(body.prompt, promptMax)) {
    issues.unshift({ path: 'prompt', message: `prompt is too long: ${model.id} takes at most ${promptMax} characters` })
  }
  if ((body.n ?? COUNT_DEFAULT) > model.n.max) {
    const range = model.n.max === 1 ? 'one image' : `1 to ${model.n.max} images`
    issues.push({ path: 'n', message: `${model.id} makes ${range} a request` })
  }
  return issues
}

const OFFERED_IN = { size: 'sizes', quality: 'qualities', style: 'styles' } as const

/** Interface, images: what every model takes, because it is the default; the other value is of image-v3 only. */
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
  return [{ path, message: `${path} of ${model.id} is ${offered.join(', ')}` }]
}

/** A model that has no choice has the default. */
function choicesOf(path: keyof typeof OFFERED_IN, model: ImageModel): readonly string[] {
  const offered = model[OFFERED_IN[path]]
  return offered.length === 0 && path !== 'size' ? [DEFAULTS[path]] : offered
}

/** A character is a code point, of one or two UTF-16 units: only a text between these two bounds is counted. */
function isShortEnough(text: string, charactersMax: number): boolean {
  if (text.length <= charactersMax) {
    return true
  }
  return text.length <= 2 * charactersMax && [...text].length <= charactersMax
}
