import * as z from 'zod'
import { usageResponse } from '../contract/usage-response.ts'
import { timeField } from './response-parts.ts'

/** The usage of a tenant, or of all tenants, which a summary holds. */
export const adminUsageResponse = z.looseObject({
  ...usageResponse.shape,
  as_of: timeField.describe('When the counters were read, or when the summary of all tenants was written.'),
  left_out: z
    .string()
    .nullable()
    .describe('What the summary of all tenants leaves out, and the command that shows it; null if it is complete.'),
})
