import * as z from 'zod'
import { FINISH_REASONS, tokenUsageAnswer } from './token-usage-response.ts'

const toolCalls = z.array(z.looseObject({})).describe('Calls of functions that the model wants.')

const common = {
  id: z.string(),
  created: z.int().describe('Unix seconds.'),
  model: z.string().describe('Public id of the model: the one value that is not as the upstream wrote it.'),
}

/** A chat completion (interface, "Chat completion response"). Documents the answer; nothing at run time parses it. */
export const chatCompletionAnswer = z
  .looseObject({
    ...common,
    object: z.literal('chat.completion'),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        message: z.looseObject({
          role: z.literal('assistant'),
          content: z.string().nullable().describe('Null where the model calls functions or refuses.'),
          tool_calls: toolCalls.optional(),
        }),
        finish_reason: z.string().describe(FINISH_REASONS),
      }),
    ),
    usage: tokenUsageAnswer.optional().describe('Left out if the upstream leaves it out.'),
  })
  .describe('The answer of the upstream, byte for byte but for the value of `model`.')

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
    usage: tokenUsageAnswer.nullish().describe('In the last chunk, with `stream_options.include_usage`.'),
  })
  .describe('The data of one event, as the upstream sent it but for the value of `model`.')
