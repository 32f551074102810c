import type * as z from 'zod'
import { type Catalogue, needsDirectRoute } from '../catalogue/catalogue.ts'
import type { VideoModel } from '../catalogue/model.ts'
import { InvalidRequestError, type RequestIssue } from '../errors.ts'
import { isJsonObject } from '../json/json-object.ts'
import { checkCallbackUrl } from '../parameters/callback-url.ts'
import type { VideoJobRequest } from '../parameters/video-parameters.ts'
import { REFERENCES_MAX, type VideoJobBody, videoJobBodySchema } from './video-job-body.ts'

type Context = {
  readonly catalogue: Catalogue
  /** Models the key may use; null for all. */
  readonly allowedModels: readonly string[] | null
}

/**
 * Reads a parsed body into a request with every default filled in.
 * @throws InvalidRequestError naming each member that needs mending; nothing was reserved yet.
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

type Verdict = { readonly issues: readonly RequestIssue[]; readonly request?: VideoJobRequest }

function judgeByModel(body: VideoJobBody, context: Context): Verdict {
  const model = allowedModel(body.model, context)
  if (model === undefined) {
    return { issues: [{ path: 'model', message: 'unknown model' }] }
  }
  const request = fillIn(body, model)
  return { issues: capabilityIssues(request, model, context.catalogue), request }
}

/** Fields that are judged together: with one of them unreadable nothing can be said of the others. */
const REFERENCE_FIELDS: ReadonlySet<string> = new Set(['image_urls', 'image_url', 'video_urls', 'audio_urls'])

/** Stands in for a prompt that is not valid while the rest is judged. */
const ANY_PROMPT = 'any'

/** What the model says of the fields that can be read, so that a client mends all of its mistakes at once. */
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

/** Each element of a list may yield an issue, and a body has room for a million of them: so lengths come before elements. */
function refuseEndlessLists(body: unknown): void {
  const names = ['image_urls', 'video_urls', 'audio_urls'] as const
  const issues = names.flatMap((path) => {
    const list = isJsonObject(body) ? body[path] : undefined
    const isEndless = Array.isArray(list) && list.length > REFERENCES_MAX
    return isEndless ? [{ path, message: `${path} holds more urls than any model takes` }] : []
  })
  if (issues.length > 0) {
    throw new InvalidRequestError(issues)
  }
}

/** With images in `image_urls` the legacy single `image_url` has no meaning, whatever it holds. */
function withLegacyImage(body: unknown): unknown {
  if (!isJsonObject(body)) {
    return body
  }
  return Array.isArray(body.image_urls) && body.image_urls.length > 0 ? { ...body, image_url: undefined } : body
}

function toRequestIssue(issue: z.core.$ZodIssue): RequestIssue {
  return { path: issue.path.map(String).join('.'), message: issue.message }
}

/** A number may break several rules at once, all of which one sentence names. */
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
 * Defaults of the model are filled in here and sent upstream explicitly, so that price and product agree.
 * The members stand in one order, whatever the client wrote out: two spellings of one request are the same request.
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

/** What the model's row of the catalogue does not offer. Nothing that has a price is clamped or dropped. */
function capabilityIssues(request: VideoJobRequest, model: VideoModel, catalogue: Catalogue): RequestIssue[] {
  const issues: RequestIssue[] = []
  const { min, max } = model.durations
  if (!model.output_follows_input && (request.duration < min || request.duration > max)) {
    issues.push({ path: 'duration', message: `${model.id} makes ${min} to ${max} seconds` })
  }
  if (!model.resolutions.includes(request.resolution)) {
    issues.push({ path: 'resolution', message: `${model.id} makes ${model.resolutions.join(', ')}` })
  }
  issues.push(
    ...countIssues('image_urls', request.image_urls.length, model.images, model.id),
    ...countIssues('video_urls', request.video_urls.length, model.videos, model.id),
    ...countIssues('audio_urls', request.audio_urls.length, model.audios, model.id),
  )
  if (request.audio_urls.length > 0 && request.image_urls.length + request.video_urls.length === 0) {
    issues.push({ path: 'audio_urls', message: 'reference audio needs a reference image or video beside it' })
  }
  if (
    issues.length === 0 &&
    catalogue.videoChannels(model.id, { directOnly: needsDirectRoute(request) }).length === 0
  ) {
    const path = request.audio_urls.length > 0 ? 'audio_urls' : 'video_urls'
    issues.push({ path, message: `${model.id} is not served by a route that takes reference audio or video` })
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
  const wanted =
    range.max === 0 ? 'none' : range.min === range.max ? `exactly ${range.min}` : `${range.min} to ${range.max}`
  return [{ path, message: `${modelId} takes ${wanted}; ${count} given` }]
}

/** Of the body as it came, so that it is told beside whatever else is wrong; one that is no string is told by the schema. */
function callbackIssues(body: unknown, catalogue: Catalogue): RequestIssue[] {
  const callbackUrl = isJsonObject(body) ? body.callback_url : undefined
  if (typeof callbackUrl !== 'string') {
    return []
  }
  const check = checkCallbackUrl(callbackUrl, catalogue.config.callback_allowlist)
  return check.allowed ? [] : [{ path: 'callback_url', message: `callback_url ${check.reason}` }]
}
