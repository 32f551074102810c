import * as z from 'zod'
import { servedSeconds } from './task-upstream.ts'

const mediaUrl = z.strictObject({ url: z.string().regex(/^(https?:\/\/|data:(image|audio)\/|asset:\/\/)/) })
const videoUrl = z.strictObject({ url: z.string().regex(/^(https?:\/\/|asset:\/\/)/) })

const contentPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string().min(1) }),
  z.strictObject({
    type: z.literal('image_url'),
    image_url: mediaUrl,
    role: z.enum(['first_frame', 'reference_image']),
  }),
  z.strictObject({ type: z.literal('video_url'), video_url: videoUrl, role: z.literal('reference_video') }),
  z.strictObject({ type: z.literal('audio_url'), audio_url: mediaUrl, role: z.literal('reference_audio') }),
])

/** Of the documented fields of a submit those that a gateway has a use for; others are refused. */
const bodySchema = z.strictObject({
  model: z.string().min(1),
  content: z.array(contentPart).min(1).max(64),
  resolution: z.enum(['480p', '720p', '1080p', '4k']).default('720p'),
  ratio: z.enum(['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', '5:4', 'adaptive']).default('adaptive'),
  duration: z.int().min(2).max(15).default(5),
  seed: z.int().optional(),
  watermark: z.boolean().optional(),
  generate_audio: z.boolean().optional(),
})

type Body = z.infer<typeof bodySchema>
type Generation = 1 | 2

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

/** The neutral model ids, behind a word such as `intl-` or not; those of real accounts; and endpoints, which name no generation. */
const MODEL_ID = /^(?:(?:[a-z0-9]+-)*(?:famA|seedance)-(?:(1)-(?:\d-)?(?:lite|pro)|2)|ep)(?:-[a-z0-9-]+)?$/

/** The generation of a model; undefined for an unknown model. The first one has no sound, and takes neither video nor audio. */
export function generationOf(modelId: string): Generation | undefined {
  const match = MODEL_ID.exec(modelId)
  return match === null ? undefined : match[1] === undefined ? 2 : 1
}

/** The result of a validation. `param` is the invalid field. */
export type P2Submit =
  | { readonly kind: 'valid'; readonly prompt: string; readonly details: P2Details }
  | { readonly kind: 'missing'; readonly param: string }
  | { readonly kind: 'invalid'; readonly param: string; readonly reason: string }
  | { readonly kind: 'unknown_model'; readonly model: string }

/** Validates a submit like P2: an invalid value of a top-level field is an error, never replaced. */
export function validateP2Submit(value: unknown): P2Submit {
  const parsed = bodySchema.safeParse(value)
  if (!parsed.success) {
    const { param, isMissing, message } = faultOf(parsed.error)
    return isMissing ? { kind: 'missing', param: param || 'model' } : invalid(param, message)
  }
  const body = parsed.data
  const generation = generationOf(body.model)
  if (generation === undefined) {
    return { kind: 'unknown_model', model: body.model }
  }
  const [param, reason] = brokenRule(body, generation) ?? []
  if (param !== undefined) {
    return invalid(param, reason ?? '')
  }
  const { model, content, resolution, duration, generate_audio: hasAudio = true } = body
  const ratio = body.ratio === 'adaptive' ? '16:9' : body.ratio
  const prompt = content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n')
  const seconds = servedSeconds(ratio, duration)
  return { kind: 'valid', prompt, details: { model, generation, resolution, ratio, seconds, hasAudio } }
}

function invalid(param: string, reason: string): P2Submit {
  const message = `The parameter \`${param}\` specified in the request is not valid: ${reason}.`
  return { kind: 'invalid', param, reason: message }
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

/** The field that breaks a rule of generations and roles, and the rule. */
function brokenRule({ content, generate_audio }: Body, generation: Generation): [string, string] | undefined {
  const countOf = (type: string) => content.filter((part) => part.type === type).length
  const [images, videos, audios] = [countOf('image_url'), countOf('video_url'), countOf('audio_url')]
  const hasFrame = content.some((part) => part.type === 'image_url' && part.role === 'first_frame')
  const rules: readonly [isBroken: boolean, param: string, reason: string][] = [
    [generation === 1 && generate_audio !== undefined, 'generate_audio', 'this model has no sound'],
    [generation === 1 && videos + audios > 0, 'content', 'this model takes neither video nor audio'],
    [images > 9 || videos > 3 || audios > 3, 'content', 'too many references'],
    [audios > 0 && images + videos === 0, 'content', 'audio needs an image or a video beside it'],
    [images + videos + countOf('text') === 0, 'content', 'text is missing'],
    [hasFrame && images + videos + audios > 1, 'content', 'a first frame cannot be mixed with reference media content'],
  ]
  const [, param, reason] = rules.find(([isBroken]) => isBroken) ?? []
  return param === undefined ? undefined : [param, reason ?? '']
}
