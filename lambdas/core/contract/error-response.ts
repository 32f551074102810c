import * as z from 'zod'

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
