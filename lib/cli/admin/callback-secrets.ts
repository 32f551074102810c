import * as z from 'zod'
import { isoTimeField } from '#core/admin/read-responses.ts'
import { callbackSecretJson, revealCallbackSecret } from '#lambdas/admin/callback-secrets.writes.ts'
import { readWebhookSecrets } from '#store/tenants/webhook-secrets.ts'
import { formatTable } from '../output.ts'
import type { Command } from './command.ts'
import { documentOperation } from './document.ts'
import { commandOf } from './operation-command.ts'
import { OVERLAP, readTenantId, TENANT } from './read-options.ts'

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

/** Replaces a callback secret; the old secret also signs for the overlap. @throws StoreRefusal `not_found`. */
export const callbackSecretRotate: Command = commandOf(revealCallbackSecretDocument, {
  name: 'callback-secret rotate',
  details: `During the overlap every callback carries two signatures, so a receiver that knows either secret verifies it.
After a leak: --overlap 0s. A rotation during an overlap ends the oldest secret at once, and asks before it does.`,
  options: {
    tenant: { ...TENANT, field: 'tenant_id' },
    overlap: { ...OVERLAP, summary: `how long the old secret also signs, such as 30m or 7d; ${OVERLAP.summary}` },
  },
  without: ['rotate', 'again'],
  examples: ['callback-secret rotate --tenant demo --local', 'callback-secret rotate --tenant ID --overlap 7d --json'],
  async prepare({ tenant_id: tenant }, { table, confirm }) {
    const { previous } = await readWebhookSecrets(await table(), tenant, { nowMilliseconds: Date.now() })
    if (previous !== undefined) {
      const end = new Date(previous.until).toISOString()
      await confirm(
        `An earlier rotation is under way: the secret before the current one signs until ${end} and would end now`,
      )
    }
    return { rotate: true, again: previous !== undefined }
  },
})

/** The secrets that a tenant's callbacks are signed with now. @throws StoreRefusal `not_found`. */
export const callbackSecretShow: Command = {
  name: 'callback-secret show',
  summary: 'show the secrets that sign the callbacks of a tenant',
  options: { tenant: TENANT },
  examples: ['callback-secret show --tenant demo --local'],
  async run(context, values) {
    const tenant = await readTenantId(context, values)
    const secrets = await readWebhookSecrets(await context.table(), tenant, { nowMilliseconds: Date.now() })
    const json = callbackSecretJson(tenant, secrets)
    return { json, text: formatTable([], Object.entries(json)) }
  },
}
