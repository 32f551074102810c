import * as z from 'zod/mini'
import { isJsonObject } from '../json/json-object.ts'
import { PROMPT_UNITS_MAX, promptUnits } from '../parameters/prompt-length.ts'
import { imageReference, isImageReference, linkReference } from '../parameters/reference-url.ts'
import { ASPECT_RATIOS, DURATION_SECONDS, RESOLUTIONS } from '../parameters/video-parameters.ts'

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

/** The unknown fields of a body. They are ignored, and the response names them. */
export function unknownVideoFields(body: unknown): readonly string[] {
  return isJsonObject(body) ? Object.keys(body).filter((name) => !Object.hasOwn(videoJobBodySchema.shape, name)) : []
}

/** The body of a video job with its defaults, before the limits of its model are checked. */
export type VideoJobBody = z.infer<typeof videoJobBodySchema>
