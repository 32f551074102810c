import * as z from 'zod'
import { costResponse } from './responses.ts'

const FROM_UPSTREAM =
  'From an upstream with this API: as it came, except for the model, `usage.cost`, what upstreams say of their price and name, and fields that the operator hides. From a chat upstream: translated.'

/** A response, whole or inside of an event. */
export const responseResponse = z
  .looseObject({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.number().describe('Unix seconds.'),
    status: z.string().describe('`completed`, `incomplete`, `failed` or `in_progress`.'),
    model: z.string().describe('Public id of the model.'),
    output: z.array(z.looseObject({ type: z.string() })).describe('Messages, reasoning and calls of functions.'),
    store: z.boolean().nullish().describe('Always false: the gateway keeps no responses.'),
    error: z.looseObject({ code: z.string(), message: z.string() }).nullish(),
    incomplete_details: z.looseObject({ reason: z.string().optional() }).nullish(),
    usage: z
      .looseObject({
        input_tokens: z.int(),
        output_tokens: z.int(),
        total_tokens: z.int(),
        input_tokens_details: z
          .looseObject({ cached_tokens: z.int().optional(), cache_write_tokens: z.int().optional() })
          .nullish()
          .describe('Parts of `input_tokens` that were read from a cache or written to one.'),
        cost: costResponse,
      })
      .nullish(),
  })
  .describe(FROM_UPSTREAM)

/** One event of a streamed response. */
export const responseEventResponse = z
  .looseObject({
    type: z.string().describe('Such as `response.output_text.delta`; also the name of the event.'),
    sequence_number: z.int().optional(),
    response: responseResponse.partial().optional().describe('In the first events and in the last one.'),
  })
  .describe('The data of one event.')

/** A message. */
export const messageResponse = z
  .looseObject({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string().describe('Public id of the model.'),
    content: z.array(z.looseObject({ type: z.string() })).describe('Blocks of text, thinking and calls of tools.'),
    stop_reason: z.string().nullable().describe('`end_turn`, `max_tokens`, `stop_sequence`, `tool_use` or `refusal`.'),
    stop_sequence: z.string().nullish(),
    usage: z.looseObject({
      input_tokens: z.int().describe('Without what was read from a cache or written to one.'),
      output_tokens: z.int(),
      cache_read_input_tokens: z.int().nullish(),
      cache_creation_input_tokens: z.int().nullish(),
      cost: costResponse,
    }),
  })
  .describe(FROM_UPSTREAM)

/** One event of a streamed message. */
export const messageEventResponse = z
  .looseObject({ type: z.string().describe('Such as `content_block_delta`; also the name of the event.') })
  .describe('The data of one event.')

/** The tokens of a prompt. */
export const messageTokenCountResponse = z.looseObject({
  input_tokens: z.int().describe('Counted by an upstream with this API, or estimated by the gateway.'),
})

/** Errors below `/v1/messages`, in the shape of the Anthropic API. */
export const messagesErrorResponse = z.looseObject({
  type: z.literal('error'),
  error: z.looseObject({
    type: z.string().describe('Match on this and on the status.'),
    message: z.string().describe('For people; the wording may change.'),
  }),
})
