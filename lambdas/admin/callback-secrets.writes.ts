import * as z from 'zod/mini'
import { requestObject } from '#core/admin/parse-request.ts'
import { againField, OVERLAP_MILLISECONDS, overlapField } from '#core/admin/request-fields.ts'
import { createWebhookSecret } from '#platform/callback-signature.ts'
import { recordAudit } from '#store/audit/audit-entry.ts'
import { StoreRefusal } from '#store/store-refusal.ts'
import { readWebhookSecrets, rotateWebhookSecret, type WebhookSecrets } from '#store/tenants/webhook-secrets.ts'
import { defineOperation, isoTime } from './operation.ts'

/** The secrets that sign the callbacks of a tenant. */
export function callbackSecretJson(tenant: string, { current, previous }: WebhookSecrets) {
  return {
    tenant,
    webhook_secret: current,
    previous_webhook_secret: previous?.secret ?? null,
    previous_until: previous === undefined ? null : isoTime(previous.until),
  }
}

/** Shows the secrets of a tenant, or makes a new one. The entry of the log comes first. */
export const revealCallbackSecret = defineOperation({
  name: 'reveal-callback-secret',
  method: 'POST',
  path: '/admin/v1/tenants/{tenant_id}/callback-secret',
  access: 'tenant-admin',
  conflicts: ['rotated_already', 'changed_meanwhile'],
  body: () =>
    requestObject({
      rotate: z
        ._default(z.boolean('use true or false'), false)
        .check(z.describe('Makes a new secret; otherwise the current one is shown.')),
      overlap_seconds: z.optional(overlapField()),
      again: z._default(againField(), false),
    }).check(
      z.refine(({ rotate, overlap_seconds, again }) => rotate || (overlap_seconds === undefined && !again), {
        path: ['rotate'],
        error: 'overlap_seconds and again belong to a rotation: send rotate with true',
      }),
    ),
  async run({ tenant_id: tenant, rotate, overlap_seconds: overlap, again }, { table, actor, nowMilliseconds }) {
    const now = nowMilliseconds()
    const secrets = await readWebhookSecrets(table, tenant, { nowMilliseconds: now })
    if (!rotate) {
      await recordAudit(table, {
        ...{ actor, action: 'callback-secret show', target: { kind: 'tenant', id: tenant } },
        ...{ before: null, after: null, at: now },
      })
      return callbackSecretJson(tenant, secrets)
    }
    if (secrets.previous !== undefined && !again) {
      throw new StoreRefusal(
        'rotated_already',
        `an earlier rotation is under way until ${isoTime(secrets.previous.until)}: \`again\` permits another one, which ends the oldest secret now`,
      )
    }
    const overlapMilliseconds = overlap === undefined ? OVERLAP_MILLISECONDS : overlap * 1000
    // Without an overlap, as after a leak, the table does not keep the old secret.
    const previousUntil = overlapMilliseconds === 0 ? undefined : now + overlapMilliseconds
    const secret = createWebhookSecret()
    await rotateWebhookSecret(table, tenant, { replaces: secrets.current, secret, previousUntil, actor })
    const previous = previousUntil === undefined ? undefined : { secret: secrets.current, until: previousUntil }
    return callbackSecretJson(tenant, { current: secret, previous })
  },
})

/** The operations of callback secrets. */
export const CALLBACK_SECRET_WRITES = [revealCallbackSecret] as const
