import type * as z from 'zod/mini'
import { type Catalogue, needsDirectRoute } from '../catalogue/catalogue.ts'
import type { VideoModel } from '../catalogue/model.ts'
import { InvalidRequestError, type RequestIssue } from '../errors.ts'
import { isJsonObject } from '../json/json-object.ts'
import { checkCallbackUrl } from '../parameters/callback-url.ts'
import type { VideoJobRequest } from '../parameters/video-parameters.ts'
import { REFERENCES_MAX, type VideoJobBody, videoJobBodySchema } from './video-job-body.ts'

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
    const issues = parsed.error.issues.map(toRequestIssue)
    throw new InvalidRequestError([...distinct(issues), ...issuesBeside(issues, body, context), ...wrongHost])
  }
  const { issues, request } = judgeByModel(parsed.data, context)
  if (request === undefined || issues.length + wrongHost.length > 0) {
    throw new InvalidRequestError([...issues, ...wrongHost])
  }
  return request
}

/** Also for a model that the key may not use, so that the response does not reveal which models exist. */
export const UNKNOWN_MODEL: RequestIssue = {
  path: 'model',
  message: '`model` is unknown: GET /v1/models lists the models that this key may use',
}

type Verdict = { readonly issues: readonly RequestIssue[]; readonly request?: VideoJobRequest }

function judgeByModel(body: VideoJobBody, context: Context): Verdict {
  const model = allowedModel(body.model, context)
  if (model === undefined) {
    return { issues: [UNKNOWN_MODEL] }
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
  return Array.isArray(body.image_urls) && body.image_urls.length > 0 ? { ...body, image_url: undefined } : body
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
    const message = `\`resolution\` must be one of ${model.resolutions.join(', ')} for ${model.id}`
    issues.push({ path: 'resolution', message })
  }
  issues.push(
    ...countIssues('image_urls', request.image_urls.length, model.images, model.id),
    ...countIssues('video_urls', request.video_urls.length, model.videos, model.id),
    ...countIssues('audio_urls', request.audio_urls.length, model.audios, model.id),
  )
  if (request.audio_urls.length > 0 && request.image_urls.length + request.video_urls.length === 0) {
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
  const allowed = range.min === range.max ? `exactly ${range.min}` : `${range.min} to ${range.max}`
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
