import { rotateCallbackSecret } from '#lambdas/admin/tenants.ts'
import { readWebhookSecrets, type WebhookSecrets } from '#store/tenants/webhook-secrets.ts'
import { formatTable, type Output } from '../output.ts'
import type { Command } from './command.ts'
import { OVERLAP_DEFAULT, readOverlap, readTenantId, TENANT } from './read-options.ts'

/** Replaces a callback secret; the old secret also signs for the overlap. @throws StoreRefusal `not_found`. */
export const callbackSecretRotate: Command = {
  name: 'callback-secret rotate',
  summary: 'replace the callback secret of a tenant; the old one also signs for the overlap',
  details: `During the overlap every callback carries two signatures, so a receiver that knows either secret verifies it.
After a leak: --overlap 0s. A rotation during an overlap ends the oldest secret at once, and asks before it does.`,
  options: {
    tenant: TENANT,
    overlap: {
      value: '24h',
      summary: `how long the old secret also signs, such as 30m or 7d; default: ${OVERLAP_DEFAULT}`,
    },
  },
  examples: ['callback-secret rotate --tenant demo --local', 'callback-secret rotate --tenant ID --overlap 7d --json'],
  async run(context, values) {
    const overlap = readOverlap(values.text('overlap'))
    const table = await context.table()
    const tenant = await readTenantId(context, values)
    const nowMilliseconds = Date.now()
    const { current, previous } = await readWebhookSecrets(table, tenant, { nowMilliseconds })
    if (previous !== undefined) {
      await context.confirm(
        `An earlier rotation is under way: the secret before the current one signs until ${isoTime(previous.until)} and would end now`,
      )
    }
    const rotation = { current, overlapMilliseconds: overlap, actor: await context.actor(), nowMilliseconds }
    return describe(tenant, await rotateCallbackSecret(table, tenant, rotation))
  },
}

/** The secrets that a tenant's callbacks are signed with now. @throws StoreRefusal `not_found`. */
export const callbackSecretShow: Command = {
  name: 'callback-secret show',
  summary: 'show the secrets that sign the callbacks of a tenant',
  options: { tenant: TENANT },
  examples: ['callback-secret show --tenant demo --local'],
  async run(context, values) {
    const tenant = await readTenantId(context, values)
    const secrets = await readWebhookSecrets(await context.table(), tenant, { nowMilliseconds: Date.now() })
    return describe(tenant, secrets)
  },
}

function describe(tenant: string, { current, previous }: WebhookSecrets): Output {
  const json = {
    tenant,
    webhook_secret: current,
    previous_webhook_secret: previous?.secret ?? null,
    previous_until: previous === undefined ? null : isoTime(previous.until),
  }
  return { json, text: formatTable([], Object.entries(json)) }
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
