import * as z from 'zod'

/** What the routes without a key answer. Documents the answers; nothing at run time parses them. */
export const healthAnswer = z.looseObject({
  status: z.literal('ok'),
  version: z.string().describe('Of the deployed code.'),
})

/** The OpenAPI document, as far as it describes itself. */
export const openapiDocumentAnswer = z.looseObject({
  openapi: z.literal('3.1.0'),
  info: z.looseObject({}),
  paths: z.looseObject({}),
})
