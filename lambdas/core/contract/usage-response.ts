import * as z from 'zod'

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
