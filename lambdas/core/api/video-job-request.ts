import * as z from 'zod/mini'
import { type Catalogue, needsDirectRoute } from '../catalogue/catalogue.ts'
import type { VideoModel } from '../catalogue/model.ts'
import { ASPECT_RATIOS, DURATION_SECONDS, RESOLUTIONS, type VideoJobRequest } from '../catalogue/parameters.ts'
import type { VideoPriceTier } from '../catalogue/price-rows.ts'
import { InvalidRequestError, type RequestIssue } from '../errors.ts'
import { checkCallbackUrl } from '../jobs/callback.ts'
import { isJsonObject, type JsonObject } from '../json/parse-json-text.ts'
import { formatCredits } from '../money.ts'
import {
  estimateVideoLine,
  type PriceLine,
  type PriceSnapshot,
  priceLineView,
  requestedTier,
  snapshotPrices,
} from '../pricing/video-cost.ts'
import { type AccountView, isAffordable } from './balance.ts'
import { nearestModel, otherKindMessage, sayRequired } from './request-issues.ts'

/** Most units of a video prompt: 5000 characters, or 2500 Chinese ones. */
export const PROMPT_UNITS_MAX = 5000

/**
 * Han, kana (with the marks of that block that several scripts share), hangul, and the full-width forms: the ideographic
 * space, U+FF01-FF60 and U+FFE0-FFE6. Other East Asian punctuation counts once.
 */
const CJK_CHARACTER =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3040-\u30FF\uFF65-\uFF9F\u3000\uFF01-\uFF60\uFFE0-\uFFE6]/u

/**
 * Length of a prompt in the units of {@link PROMPT_UNITS_MAX}: a CJK character counts 2, any other code point 1. The text is
 * not normalised first: two code points count as two even if they are displayed as one character.
 */
export function promptUnits(text: string): number {
  let units = 0
  for (const character of text) {
    units += CJK_CHARACTER.test(character) ? 2 : 1
  }
  return units
}

/** Longer than any presigned url. */
const LINK_CHARACTERS_MAX = 8192

/** No whitespace and no control characters anywhere. */
const LINK = /^https?:\/\/[\x21-\x7e\u00a0-\uffff]+$/i
const DATA_IMAGE = /^data:image\/[a-z0-9.+-]+;base64,[A-Za-z0-9+/]+={0,2}$/i

const LINK_RULE = `must be an http or https url of at most ${LINK_CHARACTERS_MAX} characters`
const LINK_MESSAGE = `each reference ${LINK_RULE}`
const IMAGE_MESSAGE = `each reference image ${LINK_RULE}, or data:image/...;base64`

function isLink(text: string): boolean {
  return text.length <= LINK_CHARACTERS_MAX && LINK.test(text) && text.isWellFormed() && URL.canParse(text)
}

/** A reference that the upstream fetches; the gateway does not fetch it when it creates a job. */
export const linkReference = z.string(LINK_MESSAGE).check(z.refine(isLink, { message: LINK_MESSAGE }))

/** Whether a string is a link, or an image as `data:image/...;base64`. */
export function isImageReference(text: string): boolean {
  return isLink(text) || DATA_IMAGE.test(text)
}

/** A link to an image, or the image itself as `data:image/...;base64`. */
export const imageReference = z.string(IMAGE_MESSAGE).check(z.refine(isImageReference, { message: IMAGE_MESSAGE }))

/** Most references of one kind; above the limit of any model, which is checked afterwards. */
export const REFERENCES_MAX = 16

/** Above the frame rate of any screen or upstream. */
const FRAMES_PER_SECOND_MAX = 240

/** One message per field, for a wrong type and a value out of range alike. */
const MESSAGES = {
  body: 'the body must be a JSON object',
  model: '`model` must be a string: the id of a video model',
  prompt: '`prompt` must be a string',
  promptEmpty: '`prompt` must not be empty',
  promptLong: `\`prompt\` must be at most ${PROMPT_UNITS_MAX} characters, where each Chinese, Japanese or Korean character counts as two`,
  promptBroken: '`prompt` must be valid Unicode: it contains half of a surrogate pair',
  duration: `\`duration\` must be an integer from ${DURATION_SECONDS.min} to ${DURATION_SECONDS.max}, in seconds`,
  resolution: `\`resolution\` must be one of ${RESOLUTIONS.join(', ')}`,
  aspectRatio: `\`aspect_ratio\` must be one of ${ASPECT_RATIOS.join(', ')}`,
  generateAudio: '`generate_audio` must be true or false',
  watermark: '`watermark` must be true or false',
  fps: `\`fps\` must be an integer from 1 to ${FRAMES_PER_SECOND_MAX}`,
  imageUrl: '`image_url` must be an http or https url, or data:image/...;base64',
  callbackUrl: '`callback_url` must be a string: an https url',
} as const

const prompt = z.string(MESSAGES.prompt).check(
  z.refine((text) => text.trim() !== '', { message: MESSAGES.promptEmpty }),
  z.refine(isShortEnough, { message: MESSAGES.promptLong }),
  z.refine((text) => text.isWellFormed(), { message: MESSAGES.promptBroken }),
)

/** A code point has at most two UTF-16 units and counts at least one, so a much longer prompt is refused uncounted. */
function isShortEnough(text: string): boolean {
  return text.length <= 2 * PROMPT_UNITS_MAX && promptUnits(text) <= PROMPT_UNITS_MAX
}

const resolution = z.pipe(
  z.pipe(
    z.string(MESSAGES.resolution),
    z.transform((text: string) => text.toUpperCase()),
  ),
  z.enum(RESOLUTIONS, MESSAGES.resolution),
)

const duration = z
  .number(MESSAGES.duration)
  .check(
    z.int(MESSAGES.duration),
    z.minimum(DURATION_SECONDS.min, MESSAGES.duration),
    z.maximum(DURATION_SECONDS.max, MESSAGES.duration),
  )

const fps = z
  .number(MESSAGES.fps)
  .check(z.int(MESSAGES.fps), z.minimum(1, MESSAGES.fps), z.maximum(FRAMES_PER_SECOND_MAX, MESSAGES.fps))

/** Old clients send an empty string for no image. */
const legacyImage = z
  .string(MESSAGES.imageUrl)
  .check(z.refine((text) => text === '' || isImageReference(text), { message: MESSAGES.imageUrl }))

function references<Item extends z.ZodMiniType<string>>(name: string, item: Item) {
  const message = `\`${name}\` must be an array of urls`
  return z._default(z.array(item, message).check(z.maxLength(REFERENCES_MAX, message)), [])
}

/** The body of `POST /v1/video/generations` in openapi.json, before the limits of its model. Unknown fields are ignored. */
export const videoJobBodySchema = z.object(
  {
    model: z.string(MESSAGES.model),
    prompt,
    duration: z._default(duration, DURATION_SECONDS.default),
    resolution: z.optional(resolution),
    aspect_ratio: z._default(z.enum(ASPECT_RATIOS, MESSAGES.aspectRatio), '16:9'),
    generate_audio: z.optional(z.boolean(MESSAGES.generateAudio)),
    watermark: z._default(z.boolean(MESSAGES.watermark), true),
    fps: z.optional(fps),
    image_urls: references('image_urls', imageReference),
    image_url: z.optional(legacyImage),
    video_urls: references('video_urls', linkReference),
    audio_urls: references('audio_urls', linkReference),
    callback_url: z.optional(z.string(MESSAGES.callbackUrl)),
  },
  MESSAGES.body,
)

/** The fields of a body that are ignored, which the response names: unknown ones, and an `image_url` that `image_urls` overrides. */
export function ignoredVideoFields(body: unknown): readonly string[] {
  if (!isJsonObject(body)) {
    return []
  }
  const isOverridden = Boolean(body.image_url) && hasImageUrls(body)
  return Object.keys(body).filter(
    (name) => !Object.hasOwn(videoJobBodySchema.shape, name) || (name === 'image_url' && isOverridden),
  )
}

/** The body of a video job with its defaults, before the limits of its model are checked. */
export type VideoJobBody = z.infer<typeof videoJobBodySchema>

type Context = {
  readonly catalogue: Catalogue
  /** Models that the key may use; null for all. */
  readonly allowedModels: readonly string[] | null
}

/**
 * Checks the body of a video job and fills in the defaults.
 * @throws InvalidRequestError naming each field to correct, before any reservation.
 */
export function parseVideoJobRequest(body: unknown, context: Context): VideoJobRequest {
  refuseEndlessLists(body)
  const parsed = videoJobBodySchema.safeParse(withLegacyImage(body))
  const wrongHost = callbackIssues(body, context.catalogue)
  if (!parsed.success) {
    const id = isJsonObject(body) && typeof body.model === 'string' ? body.model : ''
    const model = allowedModel(id, context)
    const issues = parsed.error.issues.map((issue) => ofModel(toRequestIssue(sayRequired(issue, body)), model))
    throw new InvalidRequestError([...distinct(issues), ...issuesBeside(issues, body, context), ...wrongHost])
  }
  const { issues, request } = judgeByModel(parsed.data, context)
  if (request === undefined || issues.length + wrongHost.length > 0) {
    throw new InvalidRequestError([...issues, ...wrongHost])
  }
  return request
}

/** Names the values of the model in place of those of all models, some of which it would refuse. */
function ofModel(issue: RequestIssue, model: VideoModel | undefined): RequestIssue {
  if (model !== undefined && issue.message === MESSAGES.resolution) {
    return { ...issue, message: resolutionMessage(model) }
  }
  if (model !== undefined && issue.message === MESSAGES.duration && !model.output_follows_input) {
    const { min, max } = model.durations
    return { ...issue, message: `\`duration\` must be an integer from ${min} to ${max}, in seconds, for ${model.id}` }
  }
  return issue
}

function resolutionMessage({ id, resolutions }: VideoModel): string {
  return `\`resolution\` must be one of ${resolutions.join(', ')} for ${id}`
}

/** Also for a model that the key may not use, so that the response does not reveal which models exist. */
export function unknownModel(id: string, context: Context): RequestIssue {
  const nearest = nearestModel(id, 'video', context)
  const meant = nearest === undefined ? '' : `did you mean ${nearest}? `
  const unknown = `\`model\` is unknown: ${meant}GET /v1/models lists the models that this key may use`
  return { path: 'model', message: otherKindMessage(id, 'video', context) ?? unknown }
}

type Verdict = { readonly issues: readonly RequestIssue[]; readonly request?: VideoJobRequest }

function judgeByModel(body: VideoJobBody, context: Context): Verdict {
  const model = allowedModel(body.model, context)
  if (model === undefined) {
    return { issues: [unknownModel(body.model, context)] }
  }
  const request = fillIn(body, model)
  return { issues: capabilityIssues(request, model, context.catalogue), request }
}

/** Fields whose limits depend on each other: if one of them is invalid, the others cannot be checked. */
const REFERENCE_FIELDS: ReadonlySet<string> = new Set(['image_urls', 'image_url', 'video_urls', 'audio_urls'])

/** Replaces an invalid prompt while the other fields are checked. */
const ANY_PROMPT = 'any'

/** Checks the valid fields against the model, so that a client sees all of its mistakes at once. */
function issuesBeside(found: readonly RequestIssue[], body: unknown, context: Context): readonly RequestIssue[] {
  if (!isJsonObject(body)) {
    return []
  }
  const broken = new Set(found.map(({ path }) => path.split('.')[0] ?? ''))
  const names = Object.keys(videoJobBodySchema.shape).filter((name) => Object.hasOwn(body, name) && !broken.has(name))
  const readable = Object.fromEntries(names.map((name) => [name, body[name]]))
  const rest = videoJobBodySchema.safeParse(withLegacyImage({ prompt: ANY_PROMPT, ...readable }))
  const areReferencesReadable = [...REFERENCE_FIELDS].every((name) => !broken.has(name))
  return rest.success
    ? judgeByModel(rest.data, context).issues.filter(({ path }) => areReferencesReadable || !REFERENCE_FIELDS.has(path))
    : []
}

/** Checks lengths before elements: a body has room for a million elements, and each could be an issue. */
function refuseEndlessLists(body: unknown): void {
  const names = ['image_urls', 'video_urls', 'audio_urls'] as const
  const issues = names.flatMap((path) => {
    const list = isJsonObject(body) ? body[path] : undefined
    const isEndless = Array.isArray(list) && list.length > REFERENCES_MAX
    return isEndless ? [{ path, message: `\`${path}\` must hold at most ${REFERENCES_MAX} urls` }] : []
  })
  if (issues.length > 0) {
    throw new InvalidRequestError(issues)
  }
}

/** A non-empty `image_urls` overrides the legacy `image_url`, even an invalid one. */
function withLegacyImage(body: unknown): unknown {
  if (!isJsonObject(body)) {
    return body
  }
  return hasImageUrls(body) ? { ...body, image_url: undefined } : body
}

function hasImageUrls({ image_urls: urls }: JsonObject): boolean {
  return Array.isArray(urls) && urls.length > 0
}

function toRequestIssue(issue: z.core.$ZodIssue): RequestIssue {
  return { path: issue.path.map(String).join('.'), message: issue.message }
}

/** A number can break several rules that share one message. */
function distinct(issues: readonly RequestIssue[]): RequestIssue[] {
  return issues.filter(
    ({ path, message }, index) =>
      issues.findIndex((other) => other.path === path && other.message === message) === index,
  )
}

function allowedModel(id: string, { catalogue, allowedModels }: Context): VideoModel | undefined {
  return allowedModels === null || allowedModels.includes(id) ? catalogue.findVideoModel(id) : undefined
}

/**
 * Fills in the model's defaults, which are sent upstream explicitly so that the product matches the price. The fields have one
 * fixed order, so that two spellings of one request are equal.
 */
function fillIn(body: VideoJobBody, model: VideoModel): VideoJobRequest {
  const legacyImages = body.image_url === undefined || body.image_url === '' ? [] : [body.image_url]
  return {
    model: body.model,
    prompt: body.prompt,
    duration: body.duration,
    resolution: body.resolution ?? model.default_resolution,
    aspect_ratio: body.aspect_ratio,
    generate_audio: body.generate_audio ?? model.audio.default,
    watermark: body.watermark,
    ...(body.fps === undefined ? {} : { fps: body.fps }),
    image_urls: body.image_urls.length === 0 ? legacyImages : body.image_urls,
    video_urls: body.video_urls,
    audio_urls: body.audio_urls,
    ...(body.callback_url === undefined ? {} : { callback_url: body.callback_url }),
  }
}

/** What the model does not support. Nothing that has a price is clamped or dropped. */
function capabilityIssues(request: VideoJobRequest, model: VideoModel, catalogue: Catalogue): RequestIssue[] {
  const issues: RequestIssue[] = []
  const { min, max } = model.durations
  if (!model.output_follows_input && (request.duration < min || request.duration > max)) {
    issues.push({ path: 'duration', message: `\`duration\` must be from ${min} to ${max} seconds for ${model.id}` })
  }
  if (!model.resolutions.includes(request.resolution)) {
    issues.push({ path: 'resolution', message: resolutionMessage(model) })
  }
  issues.push(
    ...countIssues('image_urls', request.image_urls.length, model.images, model.id),
    ...countIssues('video_urls', request.video_urls.length, model.videos, model.id),
    ...countIssues('audio_urls', request.audio_urls.length, model.audios, model.id),
  )
  const isAudioAlone = request.audio_urls.length > 0 && request.image_urls.length + request.video_urls.length === 0
  if (isAudioAlone && model.audios.max > 0) {
    issues.push({ path: 'audio_urls', message: '`audio_urls` needs at least one of `image_urls` or `video_urls`' })
  }
  if (
    issues.length === 0 &&
    catalogue.configuredVideoChannels(model.id, { directOnly: needsDirectRoute(request) }).length === 0
  ) {
    const path = request.audio_urls.length > 0 ? 'audio_urls' : 'video_urls'
    const message = `\`${path}\` must be left out for ${model.id}: no channel of this model takes reference audio or video`
    issues.push({ path, message })
  }
  return issues
}

function countIssues(
  path: string,
  count: number,
  range: { min: number; max: number },
  modelId: string,
): RequestIssue[] {
  if (count >= range.min && count <= range.max) {
    return []
  }
  if (range.max === 0) {
    return [{ path, message: `\`${path}\` must be left out for ${modelId}` }]
  }
  const allowed =
    range.min === range.max
      ? `exactly ${range.min}`
      : range.min === 0
        ? `at most ${range.max}`
        : `${range.min} to ${range.max}`
  return [
    {
      path,
      message: `\`${path}\` must hold ${allowed} ${range.max === 1 ? 'url' : 'urls'} for ${modelId}, not ${count}`,
    },
  ]
}

/** Checks the raw body, so that this issue is reported with all others. The schema reports a value that is no string. */
function callbackIssues(body: unknown, catalogue: Catalogue): RequestIssue[] {
  const callbackUrl = isJsonObject(body) ? body.callback_url : undefined
  if (typeof callbackUrl !== 'string') {
    return []
  }
  const check = checkCallbackUrl(callbackUrl, catalogue.config.callback_allowlist)
  return check.allowed ? [] : [{ path: 'callback_url', message: `\`callback_url\` ${check.reason}` }]
}

/** Longer than any id in use; only its digest is stored. */
const IDEMPOTENCY_KEY_CHARACTERS_MAX = 255

/**
 * Reads the `Idempotency-Key` header.
 * @throws InvalidRequestError if it is empty or too long.
 */
export function readIdempotencyKey(header: string | undefined): string | undefined {
  if (header === '' || (header !== undefined && header.length > IDEMPOTENCY_KEY_CHARACTERS_MAX)) {
    const message = `the Idempotency-Key header must have 1 to ${IDEMPOTENCY_KEY_CHARACTERS_MAX} characters`
    throw new InvalidRequestError([{ path: 'Idempotency-Key', message }])
  }
  return header
}

/** A valid request with its price: what a create reserves, and what a quote shows. */
export type VideoOffer = {
  readonly request: VideoJobRequest
  readonly tier: VideoPriceTier
  readonly snapshot: PriceSnapshot
  /** The estimate, an upper bound of the cost. */
  readonly line: PriceLine
}

type OfferContext = {
  readonly catalogue: Catalogue
  /** Models that the key may use; null for all. */
  readonly allowedModels: readonly string[] | null
}

/**
 * Validates the body of a create and prices it.
 * @throws InvalidRequestError naming each field to correct.
 */
export function offerVideoJob(body: unknown, context: OfferContext): VideoOffer {
  const request = parseVideoJobRequest(body, context)
  const model = context.catalogue.findVideoModel(request.model)
  if (model === undefined) {
    throw new InvalidRequestError([unknownModel(request.model, context)])
  }
  const tier = requestedTier(request)
  return { request, tier, snapshot: snapshotPrices(model, tier), line: estimateVideoLine(request, model) }
}

/** The body of a quote: what a create would reserve, and whether it could at this moment. */
export function videoQuote({ request, line }: VideoOffer, account: AccountView, nowMilliseconds: number) {
  return {
    object: 'video.quote' as const,
    model: request.model,
    estimate: formatCredits(line.amount),
    lines: [priceLineView(line)],
    available: formatCredits(account.balance.available),
    affordable: isAffordable(account, line.amount, nowMilliseconds),
  }
}
