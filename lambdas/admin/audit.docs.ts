import * as z from 'zod'
import { isoTimeField, pageFields } from '#core/admin/read-responses.ts'
import { listAudit } from './audit.ts'
import { documentOperation } from './document.ts'

const fields = z.record(z.string(), z.unknown()).nullable()

const entry = z.strictObject({
  id: z.string(),
  at: isoTimeField,
  actor: z.string(),
  role: z.string(),
  action: z.string().describe('Such as `key revoke`.'),
  kind: z.string().describe('Of the target, such as `key`.'),
  target: z.string().describe('Its id.'),
  tenant: z.string().nullable().describe('The tenant that the target is, or belongs to.'),
  before: fields.describe('Null for something that did not exist before.'),
  after: fields.describe('Null for something that does not exist any more.'),
  request_id: z.string().nullable(),
})

/** The operation of the audit log, as people read about it. */
export const listAuditDocument = documentOperation(listAudit, {
  summary: 'show who changed what, newest first',
  returns: 'Effects, newest first.',
  output: z.strictObject({ entries: z.array(entry), ...pageFields }),
})

/** The part of the response that has a name of its own in `admin-openapi.json`. */
export const AUDIT_SCHEMAS = { AuditEntry: entry }
