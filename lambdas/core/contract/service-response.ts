import * as z from 'zod'

/** The health check. */
export const healthResponse = z.looseObject({
  status: z.literal('ok'),
  version: z.string().describe('Version of the deployed code.'),
})

/** The outline of the OpenAPI document. */
export const openapiDocumentResponse = z.looseObject({
  openapi: z.literal('3.1.0'),
  info: z.looseObject({}),
  paths: z.looseObject({}),
})
