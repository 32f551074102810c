import * as z from 'zod'
import { isoTimeField } from '#core/admin/read-responses.ts'
import { revealCallbackSecret } from './callback-secrets.writes.ts'
import { documentOperation } from './document.ts'

/** The operation of callback secrets, as people read about it. */
export const revealCallbackSecretDocument = documentOperation(revealCallbackSecret, {
  summary: 'replace the callback secret of a tenant; the old one also signs for the overlap',
  description: 'Without `rotate`, shows the secrets. The audit log says who saw them.',
  returns: 'The secrets.',
  output: z.strictObject({
    tenant: z.string().describe('Id of the tenant.'),
    webhook_secret: z.string(),
    previous_webhook_secret: z.string().nullable().describe('Signs too, until `previous_until`.'),
    previous_until: isoTimeField.nullable(),
  }),
})
