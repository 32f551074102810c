import * as z from 'zod'

/** Tokens as the upstream counts them; they are what is billed. */
export const tokenUsageAnswer = z.looseObject({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
})

/** Values of `finish_reason` (interface, "POST /v1/chat/completions"). An upstream may have more. */
export const FINISH_REASONS =
  '`stop` (natural end), `length` (max_tokens reached), `tool_calls` (the model wants a function called) or `content_filter` (held back by the content policy of the upstream).'
