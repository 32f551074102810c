import * as z from 'zod'
import { IMAGE_FORMATS, VIDEO_FORMATS } from '../media-facts.ts'
import { DURATION_SECONDS, INPUT_VIDEO_SECONDS_MAX, MODALITIES, RESOLUTIONS } from './parameters.ts'
import { price, strictObject } from './schema-parts.ts'

const bytesMax = z.number().int().min(1).optional().meta({ description: 'Largest file, in bytes.' })

const images = strictObject({
  formats: z.array(z.enum(IMAGE_FORMATS)).min(1).default(['jpeg', 'png', 'webp']),
  short_side_min: z.number().int().min(1).optional().meta({ description: 'Fewest pixels of the shorter side.' }),
  aspect_ratio_max: z
    .number()
    .min(1)
    .optional()
    .meta({ description: 'Largest ratio of the longer to the shorter side.' }),
  bytes_max: bytesMax,
})

const videos = strictObject({
  formats: z.array(z.enum(VIDEO_FORMATS)).min(1).default(['mp4', 'mov']),
  frames_per_second_min: z.number().positive().optional(),
  bytes_max: bytesMax,
})

/**
 * Limits of an upstream for the references of a model, checked before a submit over a channel with `reference_checks`. Missing
 * kinds and fields are not checked. The longest video is in `input_video_seconds_max`.
 */
export const referenceLimits = strictObject({ images: images.optional(), videos: videos.optional() })

/** Limits of reference images; lengths in pixels, sizes in bytes. */
export type ImageLimits = z.infer<typeof images>
/** Limits of reference videos; sizes in bytes. */
export type VideoLimits = z.infer<typeof videos>

/** The prices of a chat model by tokens: decimal strings in credits, for a million tokens each. */
export type TokenPrices = {
  /** Input that no other price of this row covers. */
  readonly input: string
  readonly output: string
  /** Input that the upstream read from a cache. */
  readonly cached_input?: string | undefined
  /** Input that the upstream read from a cache which the request had asked for. */
  readonly cached_input_explicit?: string | undefined
  /** Input that the upstream wrote to a cache. */
  readonly cache_write?: string | undefined
  /** Input that the upstream wrote to a cache that lasts for an hour or longer. */
  readonly cache_write_1h?: string | undefined
}

/** Longer names of the same prices. */
const older = {
  input_per_million: price.optional().meta({ description: 'The same as input.' }),
  output_per_million: price.optional().meta({ description: 'The same as output.' }),
}

type Written = {
  readonly [Name in keyof TokenPrices | keyof typeof older]?: string | undefined
}

/** A price row of a chat model, with either name of each price. */
export const chatTokenPrices = strictObject({
  input: price.optional(),
  output: price.optional(),
  cached_input: price.optional().meta({ description: 'Input read from a cache. Without it: input.' }),
  cached_input_explicit: price
    .optional()
    .meta({ description: 'Input read from a cache that the request asked for. Without it: cached_input.' }),
  cache_write: price.optional().meta({ description: 'Input written to a cache. Without it: input.' }),
  cache_write_1h: price
    .optional()
    .meta({ description: 'Input written to a cache for an hour or longer. Without it: cache_write.' }),
  ...older,
})
  .superRefine((row, context) => {
    needOneName('input', row, context)
    needOneName('output', row, context)
  })
  .transform(
    ({ input, output, input_per_million = '', output_per_million = '', ...rest }: Written): TokenPrices => ({
      input: input ?? input_per_million,
      output: output ?? output_per_million,
      ...rest,
    }),
  )

/** A price row of an embedding model, with either name of its price. */
export const embeddingTokenPrices = strictObject({
  input: price.optional(),
  input_per_million: older.input_per_million,
})
  .superRefine((row, context) => needOneName('input', row, context))
  .transform(({ input, input_per_million = '' }: Pick<Written, 'input' | 'input_per_million'>) => ({
    input: input ?? input_per_million,
  }))

function needOneName(name: 'input' | 'output', row: Written, context: z.RefinementCtx): void {
  const older = `${name}_per_million` as const
  const isMissing = row[name] === undefined && row[older] === undefined
  if (isMissing || (row[name] !== undefined && row[older] !== undefined)) {
    const message = isMissing ? `write ${name}, the price of a million tokens` : `the same as ${older}; leave one out`
    context.addIssue({ code: 'custom', path: [name], message })
  }
}

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

function fact(what: string) {
  return z
    .boolean()
    .optional()
    .meta({ description: `${what}, for the list of models. The gateway does not enforce it.` })
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
  tools: fact('Whether the model calls functions'),
  structured_output: fact('Whether the model obeys `response_format`'),
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
  qualities: z.array(z.enum(['standard', 'hd', 'low', 'medium', 'high'])).default([]),
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
