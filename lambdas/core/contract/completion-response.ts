import * as z from 'zod'
import { FINISH_REASONS, tokenUsageResponse } from './chat-response.ts'

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
