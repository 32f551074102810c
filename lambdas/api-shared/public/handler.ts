import { handler as getHealth } from '../../api/get-health/handler.ts'
import { handler as getOpenapiDocument } from '../../api/get-openapi-document/handler.ts'
import { sharedFunction } from '../shared-function.ts'

/** What needs no key, and the preflights of browsers where the configuration allows origins. */
export const handler = sharedFunction({
  'get-health': getHealth,
  'get-openapi-document': getOpenapiDocument,
})
