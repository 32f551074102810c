import * as z from 'zod'
import { budgetResponse, pageOf, timeField } from './response-parts.ts'

/** An API key, never the key itself. */
export const keyResponse = z.strictObject({
  id: z.string().describe('Public id.'),
  name: z.string().nullable(),
  tenant: z.string().describe('Id of the tenant.'),
  state: z.enum(['active', 'revoked', 'expired', 'suspended']).describe('The first one that applies.'),
  models: z.array(z.string()).nullable().describe('Models that the key may use; null for all.'),
  rate_per_minute: z.int().nullable().describe('Null for no limit.'),
  budget: budgetResponse.nullable(),
  created_at: timeField,
  expires_at: timeField.nullable(),
  last_used_at: z.null().describe('Not recorded: a write for every request would cost more than the request.'),
})

/** Keys by id. */
export const keyListResponse = pageOf(keyResponse)
