import * as z from 'zod'

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
