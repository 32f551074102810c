import * as z from 'zod'
import { FINISH_REASONS, tokenUsageAnswer } from './token-usage-response.ts'

/** A text completion, and one event of a streamed one (interface, "Text completion response"). Documents the answer; nothing at run time parses it. */
export const completionAnswer = z.looseObject({
  id: z.string(),
  object: z.literal('text_completion'),
  created: z.int().describe('Unix seconds.'),
  model: z.string().describe('Public id of the model.'),
  choices: z
    .array(
      z.looseObject({
        text: z.string(),
        index: z.int().describe('Of choice k of prompt i: i times `n` and k.'),
        logprobs: z.null(),
        finish_reason: z
          .string()
          .nullable()
          .describe(`${FINISH_REASONS} Null in an event before the last of its choice.`),
      }),
    )
    .describe('Completions of all prompts. Empty in the event with the usage.'),
  usage: tokenUsageAnswer
    .nullish()
    .describe('The sum over all prompts. Of a stream: in its last event, with `stream_options.include_usage`.'),
})
