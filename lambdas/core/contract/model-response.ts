import * as z from 'zod'
import { MODALITIES } from '../parameters/modalities.ts'
import { RESOLUTIONS } from '../parameters/video-parameters.ts'

const modality = z.enum([...MODALITIES, 'embedding'])

const range = z.looseObject({ min: z.int().min(0), max: z.int().min(0) })

const tier = z.union([z.boolean(), z.literal('any')])

/** A row of prices: decimal strings in credits, and what the row is for. */
export const modelPriceResponse = z.looseObject({
  price: z.string().optional().describe('Per million tokens, second, image or request, as `billing` says.'),
  input: z.string().optional().describe('Per million input tokens.'),
  output: z.string().optional().describe('Per million output tokens.'),
  cached_input: z.string().optional().describe('Per million input tokens that were read from a cache. Else: `input`.'),
  cached_input_explicit: z
    .string()
    .optional()
    .describe('Per million input tokens from a cache that the request asked for. Else: `cached_input`.'),
  cache_write: z.string().optional().describe('Per million input tokens that were written to a cache. Else: `input`.'),
  cache_write_1h: z
    .string()
    .optional()
    .describe('Per million input tokens that were written to a cache for an hour or longer. Else: `cache_write`.'),
  resolution: z.string().optional().describe('Resolution of the video, or `any`.'),
  audio: tier.optional().describe('Whether the video has sound, or `any`.'),
  video_input: tier.optional().describe('Whether the job has a reference video, or `any`.'),
  size: z.string().optional().describe('Size of the image, or `any`.'),
  quality: z.string().optional().describe('Quality of the image, or `any`.'),
})

/** What a client pays for a model, as the operator configured it. */
const pricing = z.looseObject({
  unit: z.literal('credit'),
  billing: z
    .enum(['token', 'per_second', 'per_image', 'per_request'])
    .describe('What is counted: tokens, seconds of video, images or requests.'),
  prices: z.array(modelPriceResponse).describe('Price rows. The first one that matches a request counts.'),
})

/** A model. */
export const modelResponse = z.looseObject({
  id: z.string().describe('The value for `model` of a request.'),
  object: z.literal('model'),
  created: z.int().describe('Unix seconds.'),
  owned_by: z.string(),
  kind: z.enum(['chat', 'embedding', 'image', 'video']),
  context_window: z.int().optional().describe('Maximum tokens of a prompt. Only chat and embedding models.'),
  max_output_tokens: z.int().optional().describe('Maximum tokens of one completion. Only chat models.'),
  input_modalities: z.array(modality).describe('What a request may hold. A content part of another kind is a 400.'),
  output_modalities: z.array(modality).describe('What a response holds.'),
  endpoints: z.array(z.string()).describe('Paths of the routes that take this model.'),
  pricing,
  durations: range.optional().describe('Lengths in seconds that a job may ask for. Only video models.'),
  resolutions: z.array(z.enum(RESOLUTIONS)).optional().describe('Only video models.'),
  references: z
    .looseObject({ images: range, videos: range, audios: range })
    .optional()
    .describe('How many references of each kind a job takes. Only video models.'),
  sizes: z.array(z.string()).optional().describe('Sizes of an image, such as 1024x1024. Only image models.'),
  qualities: z.array(z.string()).optional().describe('Only image models that have qualities.'),
  styles: z.array(z.string()).optional().describe('Only image models that have styles.'),
  n: range.optional().describe('How many images a request may ask for. Only image models.'),
})

/** The list of models. */
export const modelListResponse = z.looseObject({
  object: z.literal('list'),
  data: z.array(modelResponse).describe('Every model of every kind that the key may use.'),
})
