import * as z from 'zod'
import { MODALITIES } from '../parameters/modalities.ts'
import { DURATION_SECONDS, INPUT_VIDEO_SECONDS_MAX, RESOLUTIONS } from '../parameters/video-parameters.ts'
import { price } from './price.ts'
import { referenceLimits } from './reference-limits.ts'
import { strictObject } from './strict-object.ts'
import { chatTokenPrices, embeddingTokenPrices } from './token-prices.ts'

const common = {
  id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, 'use letters, digits, dots, hyphens and underscores'),
  enabled: z.boolean().default(true),
  owned_by: z.string().min(1).default('reelgate'),
  created: z.number().int().min(0).default(1_767_225_600).meta({ description: 'Unix time, seconds.' }),
}

const range = (highest: number) =>
  strictObject({ min: z.number().int().min(0).max(highest), max: z.number().int().min(0).max(highest) }).refine(
    ({ min, max }) => min <= max,
    { message: 'min must be at most max' },
  )

const tier = z.literal([true, false, 'any']).default('any')

const videoPrice = strictObject({
  resolution: z.enum([...RESOLUTIONS, 'any']).default('any'),
  audio: tier,
  video_input: tier,
  price,
})

const videoModel = strictObject({
  ...common,
  kind: z.literal('video'),
  durations: strictObject({
    min: z.number().int().min(DURATION_SECONDS.min).max(DURATION_SECONDS.max),
    max: z.number().int().min(DURATION_SECONDS.min).max(DURATION_SECONDS.max),
  }),
  resolutions: z.array(z.enum(RESOLUTIONS)).min(1),
  default_resolution: z.enum(RESOLUTIONS),
  audio: strictObject({ supported: z.boolean(), default: z.boolean() }),
  images: range(9),
  videos: range(1),
  audios: range(3),
  input_video_seconds_max: z
    .number()
    .int()
    .min(0)
    .max(INPUT_VIDEO_SECONDS_MAX)
    .default(0)
    .meta({ description: 'Longest reference video that the upstream accepts. The estimate includes it.' }),
  reference_limits: referenceLimits
    .optional()
    .meta({ description: 'Limits of the upstream for references, checked on channels with reference_checks.' }),
  output_follows_input: z
    .boolean()
    .default(false)
    .meta({ description: 'For edits: the input video decides the length, and `duration` has no effect.' }),
  prompt_flags: z.boolean().default(false).meta({
    description: 'The upstream obeys flags such as `--rs 1080p` in a prompt, so the gateway neutralises them.',
  }),
  billing: z.enum(['token', 'per_second', 'per_request']),
  prices: z.array(videoPrice).min(1).meta({ description: 'The first matching row counts.' }),
})

function modalities(description: string) {
  return z
    .array(z.enum(MODALITIES))
    .min(1)
    .refine((listed) => new Set(listed).size === listed.length, { message: 'name each of them once' })
    .default(['text'])
    .meta({ description })
}

const tokens = z.number().int().positive()

const imageTokens = z.union([
  tokens,
  z
    .record(z.string().regex(/^[a-z_]{1,32}$/, 'use a detail of requests, such as low or high'), tokens)
    .refine((byDetail) => Object.keys(byDetail).length > 0 && !Object.hasOwn(byDetail, 'auto'), {
      message: 'name at least one detail, and leave out auto, which counts as the highest of them',
    }),
])

const chatModel = strictObject({
  ...common,
  kind: z.literal('chat'),
  billing: z.enum(['token', 'per_request']),
  context_tokens: z.number().int().positive(),
  max_output_tokens: z.number().int().positive(),
  default_max_output_tokens: z
    .number()
    .int()
    .positive()
    .optional()
    .meta({ description: 'Limit of a completion whose client sets none: reserved, and sent upstream.' }),
  image_tokens: imageTokens.optional().meta({
    description:
      'Most tokens that the upstream bills for an image: one number, or one for each `detail` of requests. An image without a number reserves the whole context.',
  }),
  input_modalities: modalities('What the model takes. Content parts of other kinds are refused.'),
  output_modalities: modalities('What the model gives, for the list of models. The gateway does not enforce it.'),
  prices: z.array(z.union([chatTokenPrices, strictObject({ price })])).length(1),
})

const embeddingModel = strictObject({
  ...common,
  kind: z.literal('embedding'),
  billing: z.enum(['token', 'per_request']),
  max_input_tokens: z.number().int().positive(),
  default_dimensions: z.number().int().positive(),
  dimensions: z.boolean(),
  prices: z.array(z.union([embeddingTokenPrices, strictObject({ price })])).length(1),
})

const imageModel = strictObject({
  ...common,
  kind: z.literal('image'),
  billing: z.enum(['per_image', 'per_request']),
  sizes: z.array(z.string().regex(/^\d+x\d+$/)).min(1),
  n: strictObject({ max: z.number().int().min(1).max(10) }),
  qualities: z.array(z.enum(['standard', 'hd'])).default([]),
  styles: z.array(z.enum(['vivid', 'natural'])).default([]),
  max_prompt_characters: z.number().int().positive().optional(),
  prices: z.array(strictObject({ size: z.string().default('any'), quality: z.string().default('any'), price })).min(1),
})

/** A model of the catalogue; `kind` decides its other fields. */
export const modelSchema = z.discriminatedUnion('kind', [videoModel, chatModel, embeddingModel, imageModel])

/** A validated model with its defaults. */
export type Model = z.infer<typeof modelSchema>
/** A model that generates videos as jobs. */
export type VideoModel = z.infer<typeof videoModel>
/** A price row of a video model: its tier, and the price as a decimal string in credits. */
export type VideoPrice = z.infer<typeof videoPrice>
/** A model for chat and legacy completions. */
export type ChatModel = z.infer<typeof chatModel>
/** A model for embeddings. */
export type EmbeddingModel = z.infer<typeof embeddingModel>
/** A model for images. */
export type ImageModel = z.infer<typeof imageModel>
/** A model whose requests are relayed. */
export type RelayModel = ChatModel | EmbeddingModel | ImageModel
