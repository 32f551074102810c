import * as z from 'zod'

/** Errors below `/v1/video/` (interface, "Errors"; `details` is additive). Documents the answer; nothing at run time parses it. */
export const videoErrorAnswer = z.looseObject({
  error: z.string().describe('A fixed text for each cause; match on it and on the status.'),
  details: z
    .array(
      z.looseObject({
        path: z.string().describe('Dotted, as in `image_urls.0`; empty for the body as a whole.'),
        message: z.string().describe('For people; its wording may change.'),
      }),
    )
    .optional()
    .describe('With 400: one entry for each problem. With 402: what is needed, and what is there.'),
})

/** Errors everywhere else, as OpenAI clients read them. */
export const openaiErrorAnswer = z.looseObject({
  error: z.looseObject({
    message: z.string().describe('For people; its wording may change.'),
    type: z.string(),
    param: z.string().nullish().describe('The member to mend.'),
    code: z.union([z.string(), z.int()]).nullish().describe('Match on this and on the status.'),
  }),
})
