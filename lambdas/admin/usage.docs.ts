import * as z from 'zod'
import { pageFields } from '#core/admin/read-responses.ts'
import { usageResponse } from '#core/api/responses.ts'
import { documentOperation } from './document.ts'
import { getUsage } from './usage.ts'

const { from, to, group_by: by, data: rows, total } = usageResponse.shape

/** The operation, as people read about it. */
export const getUsageDocument = documentOperation(getUsage, {
  summary: 'usage of a tenant, or of all',
  description:
    'As `GET /v1/usage` of the gateway. Without `tenant`: all tenants, from the summary of the last minute, and `group_by` may also hold `tenant`.',
  returns: 'A page of groups.',
  output: z.strictObject({
    ...{ from, to, by, rows, total },
    ...pageFields,
    left_out: z
      .string()
      .nullable()
      .describe('What the summary of all tenants leaves out, and the command that shows it; null if it is complete.'),
  }),
})
