import * as z from 'zod'
import { ASPECT_RATIOS, MODALITIES, RESOLUTIONS } from '../catalogue/parameters.ts'

// The schemas of responses document them; the gateway does not parse its own responses.

/** Values of `finish_reason`. An upstream may have more. */
export const FINISH_REASONS =
  '`stop` (natural end), `length` (`max_tokens` reached), `tool_calls` (the model calls a function) or `content_filter` (withheld by the content policy of the upstream).'

/** What a request costs, as it stands in a usage. */
export const costResponse = z
  .number()
  .optional()
  .describe('What the request costs, in credits. Absent if nothing is billed.')

/** Tokens as the upstream counts and the gateway bills them. */
export const tokenUsageResponse = z.looseObject({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  prompt_tokens_details: z
    .looseObject({ cached_tokens: z.int().optional(), cache_write_tokens: z.int().optional() })
    .nullish()
    .describe('Parts of `prompt_tokens` that were read from a cache or written to one.'),
  cost: costResponse,
})

const toolCalls = z.array(z.looseObject({})).describe('Function calls that the model requests.')

const common = {
  id: z.string(),
  created: z.int().describe('Unix seconds.'),
  model: z
    .string()
    .describe('Public id of the model. All other values but `usage.cost` come from the upstream unchanged.'),
}

/** A chat completion. */
export const chatCompletionResponse = z
  .looseObject({
    ...common,
    object: z.literal('chat.completion'),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        message: z.looseObject({
          role: z.literal('assistant'),
          content: z.string().nullable().describe('Null if the model calls functions or refuses.'),
          tool_calls: toolCalls.optional(),
        }),
        finish_reason: z.string().describe(FINISH_REASONS),
      }),
    ),
    usage: tokenUsageResponse.optional().describe('Missing if the upstream leaves it out.'),
  })
  .describe(
    'The response of the upstream, byte for byte except for `model`, `usage.cost`, what upstreams say of their price and name, and fields that the operator hides.',
  )

/** One event of a streamed chat. */
export const chatCompletionChunk = z
  .looseObject({
    ...common,
    object: z.literal('chat.completion.chunk'),
    choices: z
      .array(
        z.looseObject({
          index: z.int(),
          delta: z.looseObject({
            role: z.string().optional(),
            content: z.string().nullish(),
            tool_calls: toolCalls.optional(),
          }),
          finish_reason: z.string().nullish().describe(FINISH_REASONS),
        }),
      )
      .describe('Empty in the chunk with the usage.'),
    usage: tokenUsageResponse.nullish().describe('In the last chunk, with `stream_options.include_usage`.'),
  })
  .describe(
    'The data of one event, as the upstream sent it except for `model`, `usage.cost`, what upstreams say of their price and name, and fields that the operator hides.',
  )

/** A text completion, or one event of a streamed one. */
export const completionResponse = z.looseObject({
  id: z.string(),
  object: z.literal('text_completion'),
  created: z.int().describe('Unix seconds.'),
  model: z.string().describe('Public id of the model.'),
  choices: z
    .array(
      z.looseObject({
        text: z.string(),
        index: z.int().describe('Choice k of prompt i has the index i × `n` + k.'),
        logprobs: z.null(),
        finish_reason: z.string().nullable().describe(`${FINISH_REASONS} Null in all events of a choice but the last.`),
      }),
    )
    .describe('The completions of all prompts. Empty in the event with the usage.'),
  usage: tokenUsageResponse
    .nullish()
    .describe('The sum over all prompts. In a stream: in the last event, with `stream_options.include_usage`.'),
})

/** Vectors. */
export const embeddingResponse = z
  .looseObject({
    object: z.literal('list'),
    data: z
      .array(
        z.looseObject({
          object: z.literal('embedding'),
          index: z.int().describe('Position of the input.'),
          embedding: z
            .union([z.array(z.number()), z.string()])
            .describe('Numbers, or packed little-endian float32 in base64 with `encoding_format` `base64`.'),
        }),
      )
      .describe('One entry per input, in the order of the inputs.'),
    model: z.string().describe('Public id of the model.'),
    usage: z.looseObject({ prompt_tokens: z.int(), total_tokens: z.int(), cost: costResponse }).optional(),
  })
  .describe(
    'The response of the upstream, byte for byte except for `model`, `usage.cost`, what upstreams say of their price and name, and fields that the operator hides.',
  )

/** Images. */
export const imageResponse = z
  .looseObject({
    created: z.int().describe('Unix seconds.'),
    data: z.array(
      z
        .looseObject({
          url: z.string().optional().describe('Url of the upstream, which decides when it expires.'),
          b64_json: z.string().optional().describe('The image itself, with `response_format` `b64_json`.'),
          revised_prompt: z.string().optional().describe('The prompt that image-v3 used.'),
        })
        .describe('Holds `url` or `b64_json`.'),
    ),
  })
  .describe(
    'The response of the upstream, byte for byte except for the cost in a `usage`, what upstreams say of their price and name, and fields that the operator hides.',
  )

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
  vision: z.boolean().optional().describe('Whether prompts may hold images. Only chat models.'),
  tools: z
    .boolean()
    .optional()
    .describe('Whether the model calls functions. Only chat models of which the operator says so.'),
  structured_output: z
    .boolean()
    .optional()
    .describe('Whether the model obeys `response_format`. Only chat models of which the operator says so.'),
  input_modalities: z.array(modality).describe('What a request may hold. A content part of another kind is a 400.'),
  output_modalities: z.array(modality).describe('What a response holds.'),
  endpoints: z.array(z.string()).describe('Paths of the routes that take this model.'),
  pricing,
  durations: range.optional().describe('Lengths in seconds that a job may ask for. Only video models.'),
  resolutions: z.array(z.enum(RESOLUTIONS)).optional().describe('Only video models.'),
  aspect_ratios: z.array(z.enum(ASPECT_RATIOS)).optional().describe('Only video models. Some upstreams ignore it.'),
  references: z
    .looseObject({ images: range, videos: range, audios: range })
    .optional()
    .describe('How many references of each kind a job takes. Only video models.'),
  sizes: z.array(z.string()).optional().describe('Sizes of an image, such as 1024x1024. Only image models.'),
  qualities: z.array(z.string()).optional().describe('Only image models that have qualities.'),
  styles: z.array(z.string()).optional().describe('Only image models that have styles.'),
  n: range.optional().describe('How many images a request may ask for. Only image models.'),
})

/** The list of models. A client that sends `x-api-key` or `anthropic-version` also finds the fields of the Anthropic API. */
export const modelListResponse = z.looseObject({
  object: z.literal('list'),
  data: z.array(modelResponse).describe('Every model of every kind that the key may use.'),
})

const amount = z.string().describe('Credits, as a decimal string.')

const budget = z
  .looseObject({
    amount: amount.describe('What the key may spend in one period.'),
    period: z.enum(['day', 'month', 'total']).describe('In UTC. `total` never starts again.'),
    spent: amount.describe('Settled in this period.'),
    held: amount.describe('Reserved now.'),
    resets_at: z.int().nullable().describe('Unix seconds at which the next period begins; null for `total`.'),
  })
  .nullable()
  .describe('Null for a key without a budget of its own.')

/** What a tenant and a key have. */
export const balanceResponse = z.looseObject({
  object: z.literal('balance'),
  unit: z.literal('credit'),
  available: amount.describe('What new requests may reserve. Negative after an overdraft.'),
  held: amount.describe('Reserved by open requests and jobs.'),
  spent: amount.describe('Settled since the tenant was created.'),
  granted: amount.describe('available + held + spent.'),
  key: z.looseObject({
    id: z.string().describe('Public id of your key.'),
    name: z.string().nullable(),
    models: z.array(z.string()).nullable().describe('Models that the key may use; null for all.'),
    expires_at: z.int().nullable().describe('Unix seconds; null for a key that does not expire.'),
    rate: z
      .looseObject({
        per_minute: z.int().describe('Requests a minute, over all routes.'),
        burst: z.int().describe('Requests at once, after a rest.'),
      })
      .nullable()
      .describe('Null for a key without a limit.'),
    budget,
  }),
})

const sums = {
  requests: z.int().describe('Settled requests and jobs. A request at a price of zero is not counted.'),
  input_tokens: z.int().describe('Input that was neither read from a cache nor written to one.'),
  cached_input_tokens: z.int().describe('Input that was read from a cache.'),
  cache_write_tokens: z.int().describe('Input that was written to a cache.'),
  output_tokens: z
    .int()
    .describe('Generated tokens, with reasoning; also the tokens of videos that are billed by token.'),
  video_seconds: z.number().describe('To the millisecond.'),
  images: z.int(),
  cost: z.string().describe('Credits, as a decimal string: the exact sum of what was billed.'),
}

/** One group of usage. */
const usageGroup = z.looseObject({
  day: z.string().optional().describe('UTC, `yyyy-mm-dd`: the day on which the requests were settled.'),
  model: z.string().optional(),
  key: z.string().optional().describe('Public id of the API key.'),
  key_name: z.string().nullable().optional().describe('With `key`: its name; null for a key that has none or is gone.'),
  operation: z.string().optional().describe('Such as `create-chat-completion`.'),
  ...sums,
})

/** The usage of a tenant. */
export const usageResponse = z.looseObject({
  object: z.literal('list'),
  from: z.string().describe('First day, UTC.'),
  to: z.string().describe('Last day, UTC.'),
  group_by: z.array(z.string()),
  data: z.array(usageGroup).describe('Groups, sorted by their values.'),
  total: z.looseObject(sums).describe('The sums of all groups of all pages.'),
  has_more: z.boolean(),
  next: z.string().nullable().describe('The value of `after` for the next page; null on the last page.'),
})

/** Errors below `/v1/video/`; `details` is an addition for people. */
export const videoErrorResponse = z.looseObject({
  error: z.string().describe('A fixed string per cause. Match on it and on the status.'),
  details: z
    .array(
      z.looseObject({
        path: z.string().describe('Dotted, as in `image_urls.0`; empty for the whole body.'),
        message: z.string().describe('For people; the wording may change.'),
      }),
    )
    .optional()
    .describe('With 400: one entry per problem. With 402: the needed and the available credits.'),
})

/** Errors of all other routes, in the shape of the OpenAI API. */
export const openaiErrorResponse = z.looseObject({
  error: z.looseObject({
    message: z.string().describe('For people; the wording may change.'),
    type: z.string(),
    param: z.string().nullish().describe('The field to correct.'),
    code: z.union([z.string(), z.int()]).nullish().describe('Match on this and on the status.'),
  }),
})

/** The health check. */
export const healthResponse = z.looseObject({
  status: z.literal('ok'),
  version: z.string().describe('Version of the deployed code.'),
})

/** The outline of the OpenAPI document. */
export const openapiDocumentResponse = z.looseObject({
  openapi: z.literal('3.1.0'),
  info: z.looseObject({}),
  paths: z.looseObject({}),
})
