import * as z from 'zod'
import { isJsonObject } from '../json/json-object.ts'
import { PROMPT_UNITS_MAX, promptUnits } from '../parameters/prompt-length.ts'
import { imageReference, isImageReference, linkReference } from '../parameters/reference-url.ts'
import { ASPECT_RATIOS, DURATION_SECONDS, RESOLUTIONS } from '../parameters/video-parameters.ts'

/** References of one kind that any model could take; a model's own counts are checked afterwards. */
export const REFERENCES_MAX = 16

/** No screen and no upstream goes beyond. */
const FRAMES_PER_SECOND_MAX = 240

/** What a person reads when a member is of the wrong type or out of its range: one sentence for each member. */
const SENTENCES = {
  body: 'the body must be a JSON object',
  model: 'model must be a text: the id of a video model',
  prompt: 'prompt must be a text',
  duration: `duration must be a whole number of seconds from ${DURATION_SECONDS.min} to ${DURATION_SECONDS.max}`,
  resolution: `resolution must be one of ${RESOLUTIONS.join(', ')}`,
  aspectRatio: `aspect_ratio must be one of ${ASPECT_RATIOS.join(', ')}`,
  generateAudio: 'generate_audio must be true or false',
  watermark: 'watermark must be true or false',
  fps: `fps must be a whole number from 1 to ${FRAMES_PER_SECOND_MAX}`,
  imageUrl: 'image_url must be an http or https url, or data:image/...;base64',
  callbackUrl: 'callback_url must be a text: an https url',
} as const

const prompt = z
  .string(SENTENCES.prompt)
  .refine((text) => text.trim() !== '', { message: 'prompt must not be empty' })
  .refine(isShortEnough, {
    message: `prompt is too long: at most ${PROMPT_UNITS_MAX} characters, where each Chinese, Japanese or Korean one counts twice`,
  })
  .refine((text) => text.isWellFormed(), { message: 'prompt holds half of a surrogate pair, which is no character' })

/** A code point counts one at least and has two UTF-16 units at most, so megabytes need not be counted one by one. */
function isShortEnough(text: string): boolean {
  return text.length <= 2 * PROMPT_UNITS_MAX && promptUnits(text) <= PROMPT_UNITS_MAX
}

const resolution = z
  .string(SENTENCES.resolution)
  .transform((text) => text.toUpperCase())
  .pipe(z.enum(RESOLUTIONS, SENTENCES.resolution))

const duration = z
  .number(SENTENCES.duration)
  .int(SENTENCES.duration)
  .min(DURATION_SECONDS.min, SENTENCES.duration)
  .max(DURATION_SECONDS.max, SENTENCES.duration)

const fps = z.number(SENTENCES.fps).int(SENTENCES.fps).min(1, SENTENCES.fps).max(FRAMES_PER_SECOND_MAX, SENTENCES.fps)

/** Old clients send an empty text for no image. */
const legacyImage = z
  .string(SENTENCES.imageUrl)
  .refine((text) => text === '' || isImageReference(text), { message: SENTENCES.imageUrl })

function references<Item extends z.ZodType<string>>(name: string, item: Item) {
  const sentence = `${name} must be a list of urls`
  return z.array(item, sentence).max(REFERENCES_MAX, sentence).default([])
}

/** The body of `POST /v1/video/generations` as the interface lists it, before a model's own limits. Unknown fields are ignored. */
export const videoJobBodySchema = z.object(
  {
    model: z.string(SENTENCES.model),
    prompt,
    duration: duration.default(DURATION_SECONDS.default),
    resolution: resolution.optional(),
    aspect_ratio: z.enum(ASPECT_RATIOS, SENTENCES.aspectRatio).default('16:9'),
    generate_audio: z.boolean(SENTENCES.generateAudio).optional(),
    watermark: z.boolean(SENTENCES.watermark).default(true),
    fps: fps.optional(),
    image_urls: references('image_urls', imageReference),
    image_url: legacyImage.optional(),
    video_urls: references('video_urls', linkReference),
    audio_urls: references('audio_urls', linkReference),
    callback_url: z.string(SENTENCES.callbackUrl).optional(),
  },
  SENTENCES.body,
)

/** Names of a body that no video job has. They are ignored, and the response says so. */
export function unknownVideoFields(body: unknown): readonly string[] {
  return isJsonObject(body) ? Object.keys(body).filter((name) => !Object.hasOwn(videoJobBodySchema.shape, name)) : []
}

/** The body of a video job with its defaults filled in, before the limits of its model are looked at. */
export type VideoJobBody = z.infer<typeof videoJobBodySchema>
