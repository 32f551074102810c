import * as z from 'zod'

const SEED_MIN = -1
const SEED_MAX = 4_294_967_295
const EXPIRES_AFTER_SECONDS_MIN = 3600
const EXPIRES_AFTER_SECONDS_MAX = 259_200
const CONTENT_PARTS_MAX = 64

const mediaUrl = z.string().regex(/^(https?:\/\/|data:(image|audio)\/|asset:\/\/)/)
const videoUrl = z.string().regex(/^(https?:\/\/|asset:\/\/)/)

const contentPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string().min(1) }),
  z.strictObject({
    type: z.literal('image_url'),
    image_url: z.strictObject({ url: mediaUrl }),
    role: z.enum(['first_frame', 'last_frame', 'reference_image']).optional(),
  }),
  z.strictObject({
    type: z.literal('video_url'),
    video_url: z.strictObject({ url: videoUrl }),
    role: z.literal('reference_video'),
  }),
  z.strictObject({
    type: z.literal('audio_url'),
    audio_url: z.strictObject({ url: mediaUrl }),
    role: z.literal('reference_audio'),
  }),
])

/** The documented fields of a P2 submit; others are refused. The model line limits the values. */
export const p2BodySchema = z.strictObject({
  model: z.string().min(1),
  content: z.array(contentPart).min(1).max(CONTENT_PARTS_MAX),
  resolution: z.string().optional(),
  ratio: z.string().optional(),
  duration: z.int().optional(),
  frames: z.int().optional(),
  seed: z.int().min(SEED_MIN).max(SEED_MAX).optional(),
  camera_fixed: z.boolean().optional(),
  watermark: z.boolean().optional(),
  generate_audio: z.boolean().optional(),
  draft: z.boolean().optional(),
  return_last_frame: z.boolean().optional(),
  service_tier: z.enum(['default', 'flex']).optional(),
  execution_expires_after: z.int().min(EXPIRES_AFTER_SECONDS_MIN).max(EXPIRES_AFTER_SECONDS_MAX).optional(),
  priority: z.int().optional(),
  callback_url: z.url().optional(),
  safety_identifier: z.string().optional(),
  tools: z.array(z.strictObject({ type: z.literal('web_search') })).optional(),
  output_format: z.string().optional(),
  omni_reference_task_type: z.string().optional(),
})

/** The stored part of a submit, without the content, because inline images are large. */
export const p2ParametersSchema = p2BodySchema.omit({ content: true })

/** A well-formed submit whose values are not yet checked against the model. */
export type P2Body = z.infer<typeof p2BodySchema>
/** One element of the content. */
export type P2ContentPart = z.infer<typeof contentPart>
