import * as z from 'zod'
import { pageOf, timeField } from './response-parts.ts'

const fields = z.record(z.string(), z.unknown()).nullable()

/** Effects, newest first. */
export const auditListResponse = pageOf(
  z.strictObject({
    id: z.string(),
    at: timeField,
    actor: z.string(),
    role: z.string(),
    action: z.string().describe('Such as `key revoke`.'),
    target: z.strictObject({ kind: z.string(), id: z.string() }),
    tenant: z.string().nullable().describe('The tenant that the target is, or belongs to.'),
    before: fields.describe('Null for something that did not exist before.'),
    after: fields.describe('Null for something that does not exist any more.'),
    request_id: z.string().nullable(),
  }),
)
