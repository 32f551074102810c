import * as z from 'zod'
import { servedSeconds } from './task-upstream.ts'

const CONTENT_PARTS_MAX = 64

const mediaUrl = z.strictObject({ url: z.string().regex(/^(https?:\/\/|data:(image|audio)\/|asset:\/\/)/) })
const videoUrl = z.strictObject({ url: z.string().regex(/^(https?:\/\/|asset:\/\/)/) })
const imageRole = z.enum(['first_frame', 'reference_image'])

const contentPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string().min(1) }),
  z.strictObject({ type: z.literal('image_url'), image_url: mediaUrl, role: imageRole }),
  z.strictObject({ type: z.literal('video_url'), video_url: videoUrl, role: z.literal('reference_video') }),
  z.strictObject({ type: z.literal('audio_url'), audio_url: mediaUrl, role: z.literal('reference_audio') }),
])

/** Of the documented fields of a submit those that a gateway has a use for; others are refused. The model line limits the values. */
const bodySchema = z.strictObject({
  model: z.string().min(1),
  content: z.array(contentPart).min(1).max(CONTENT_PARTS_MAX),
  resolution: z.string().optional(),
  ratio: z.string().optional(),
  duration: z.int().optional(),
  seed: z.int().optional(),
  watermark: z.boolean().optional(),
  generate_audio: z.boolean().optional(),
})

type Body = z.infer<typeof bodySchema>

/** The part of an accepted submit that responses need, without the content, because inline images are large. */
export const p2DetailsSchema = z.object({
  model: z.string(),
  generation: z.union([z.literal(1), z.literal(2)]),
  resolution: z.string(),
  /** The ratio of the video, never `adaptive`. */
  ratio: z.string(),
  /** Length of the served clip. */
  seconds: z.number(),
  hasAudio: z.boolean(),
})

/** The stored part of a submit. */
export type P2Details = Readonly<z.infer<typeof p2DetailsSchema>>

/** The capabilities of one line of models. */
type ModelLine = {
  /** The model's name in messages of the upstream. */
  readonly name: string
  readonly generation: 1 | 2
  readonly resolutions: readonly string[]
  readonly defaultResolution: string
  readonly seconds: readonly [min: number, max: number]
  readonly referenceImagesMax: number
  /** Some models accept only text, others only images. */
  readonly images: 'none' | 'required' | 'allowed'
}

/** A channel may put a word such as `intl-` before the neutral model ids. */
const MODEL_ID = /^(?:[a-z0-9]+-)*(famA-(1-lite|1-pro|2)(?:-[a-z0-9-]+)?)$/

/** Derives the line from a model id; undefined for an unknown model. */
function lineOf(modelId: string): ModelLine | undefined {
  const [, name, family] = MODEL_ID.exec(modelId) ?? []
  if (name === undefined) {
    return undefined
  }
  if (family === '2') {
    const isSmall = /^famA-2-(fast|lite)/.test(name)
    return {
      ...{ name, generation: 2, defaultResolution: '720p', seconds: [4, 15], referenceImagesMax: 9, images: 'allowed' },
      resolutions: isSmall ? ['480p', '720p'] : ['480p', '720p', '1080p', '4k'],
    }
  }
  const isPro = family === '1-pro'
  return {
    ...{ name, generation: 1, resolutions: ['480p', '720p', '1080p'], seconds: [2, 12] },
    defaultResolution: isPro ? '1080p' : '720p',
    referenceImagesMax: isPro ? 0 : 4,
    images: name.endsWith('-t2v') ? 'none' : name.endsWith('-i2v') ? 'required' : 'allowed',
  }
}

/** Whether a model has sound; false for an unknown model. */
export function hasSound(modelId: string): boolean {
  return lineOf(modelId)?.generation === 2
}

/** The result of a validation. `param` is the invalid field. */
export type P2Submit =
  | { readonly kind: 'valid'; readonly prompt: string; readonly details: P2Details }
  | { readonly kind: 'unknown_model'; readonly model: string }
  | { readonly kind: 'missing'; readonly param: string }
  | { readonly kind: 'invalid'; readonly param: string; readonly reason: string }

const RATIOS = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', '5:4', 'adaptive']
const DEFAULT_SECONDS = 5

/** Validates a submit like P2: an invalid value of a top-level field is an error, never replaced. */
export function validateP2Submit(value: unknown): P2Submit {
  const parsed = bodySchema.safeParse(value)
  if (!parsed.success) {
    const { param, isMissing, message } = faultOf(parsed.error)
    const reason = `The parameter \`${param}\` specified in the request is not valid: ${message}.`
    return isMissing ? { kind: 'missing', param: param || 'model' } : { kind: 'invalid', param, reason }
  }
  const body = parsed.data
  const line = lineOf(body.model)
  if (line === undefined) {
    return { kind: 'unknown_model', model: body.model }
  }
  const param = valueFault(body, line)
  if (param !== undefined) {
    const task = body.content.some(({ type }) => type === 'image_url') ? 'i2v' : 't2v'
    const reason = `the parameter ${param} specified in the request is not valid for model ${line.name} in ${task}.`
    return { kind: 'invalid', param, reason }
  }
  const contentReason = contentFault(body.content, line)
  if (contentReason !== undefined) {
    const reason = `The parameter \`content\` specified in the request is not valid: ${contentReason}.`
    return { kind: 'invalid', param: 'content', reason }
  }
  const prompt = body.content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n')
  return { kind: 'valid', prompt, details: detailsOf(body, line) }
}

/** The first wrong field of a body. */
export function faultOf({ issues: [issue] }: z.ZodError): { param: string; isMissing: boolean; message: string } {
  const unknownField = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  return {
    param: [...(issue?.path ?? []), ...unknownField].join('.'),
    isMissing: issue?.code === 'invalid_type' && issue.message.endsWith('received undefined'),
    message: issue?.message ?? 'bad body',
  }
}

/** The first parameter whose value the line of models does not accept. */
function valueFault({ resolution, ratio, duration, generate_audio }: Body, line: ModelLine): string | undefined {
  const faults = {
    resolution: resolution !== undefined && !line.resolutions.includes(resolution),
    ratio: ratio !== undefined && !RATIOS.includes(ratio),
    duration: duration !== undefined && (duration < line.seconds[0] || duration > line.seconds[1]),
    // The first generation has no sound.
    generate_audio: generate_audio !== undefined && line.generation === 1,
  }
  return Object.entries(faults).find(([, isFault]) => isFault)?.[0]
}

const VIDEOS_MAX = 3
const AUDIOS_MAX = 3

/** Returns the violated rule of roles and counts, if any. */
function contentFault(content: Body['content'], line: ModelLine): string | undefined {
  const countOf = (type: string) => content.filter((part) => part.type === type).length
  const [images, videos, audios] = [countOf('image_url'), countOf('video_url'), countOf('audio_url')]
  const firstFrames = content.filter((part) => part.type === 'image_url' && part.role === 'first_frame').length
  const references = images - firstFrames
  const rules: readonly [isBroken: boolean, reason: string][] = [
    [line.generation === 1 && videos + audios > 0, 'this model takes neither video nor audio'],
    [videos > VIDEOS_MAX || audios > AUDIOS_MAX, 'too many reference videos or audios'],
    [audios > 0 && images + videos === 0, 'audio needs an image or a video beside it'],
    [images + videos + countOf('text') === 0, 'text is missing'],
    [line.images === 'none' && images > 0, 'this model takes no image'],
    [line.images === 'required' && images === 0, 'this model needs an image'],
    [firstFrames > 1, 'a frame role is given twice'],
    [references > line.referenceImagesMax, 'too many reference images'],
    [
      firstFrames > 0 && references + videos + audios > 0,
      'first/last frame content cannot be mixed with reference media content',
    ],
  ]
  return rules.find(([isBroken]) => isBroken)?.[1]
}

function detailsOf(body: Body, line: ModelLine): P2Details {
  const { ratio = 'adaptive' } = body
  const shownRatio = ratio === 'adaptive' ? '16:9' : ratio
  return {
    model: body.model,
    generation: line.generation,
    resolution: body.resolution ?? line.defaultResolution,
    ratio: shownRatio,
    seconds: servedSeconds(shownRatio, body.duration ?? DEFAULT_SECONDS),
    hasAudio: body.generate_audio ?? true,
  }
}
