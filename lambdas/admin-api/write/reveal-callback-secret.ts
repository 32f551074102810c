import { AdminConflictError } from '#core/admin/errors.ts'
import { callbackSecretRequest, parseRequest } from '#core/admin/requests.ts'
import { OVERLAP_MILLISECONDS } from '#lambdas/admin/keys/rotate-key.ts'
import { rotateCallbackSecret } from '#lambdas/admin/tenants/rotate-callback-secret.ts'
import { actorOf } from '#middleware/admin-chain.ts'
import { recordAudit } from '#store/audit/audit-entry.ts'
import { readWebhookSecrets, type WebhookSecrets } from '#store/tenants/webhook-secrets.ts'
import { pathId } from './named-target.ts'
import type { WriteOperation } from './write-context.ts'

/** `POST .../callback-secret`: shows the secrets that sign the callbacks of a tenant, or makes a new one. The entry of the log comes first. */
export const revealCallbackSecret: WriteOperation = async (event, { table, nowMilliseconds }) => {
  const tenantId = pathId(event, 'tenant_id', 'tenant')
  const { rotate, overlap_seconds: overlap, again } = parseRequest(callbackSecretRequest, event.json)
  const [actor, now] = [actorOf(event), nowMilliseconds()]
  const secrets = await readWebhookSecrets(table, tenantId, { nowMilliseconds: now })
  if (!rotate) {
    await recordAudit(table, {
      ...{ actor, action: 'callback-secret show', target: { kind: 'tenant', id: tenantId } },
      ...{ before: null, after: null, at: now },
    })
    return { body: bodyOf(tenantId, secrets) }
  }
  if (secrets.previous !== undefined && !again) {
    throw new AdminConflictError(
      `an earlier rotation is under way until ${new Date(secrets.previous.until).toISOString()}: \`again\` permits another one, which ends the oldest secret now`,
      'rotated_already',
      { param: 'again' },
    )
  }
  const overlapMilliseconds = overlap === undefined ? OVERLAP_MILLISECONDS : overlap * 1000
  const rotation = { current: secrets.current, overlapMilliseconds, actor, nowMilliseconds: now }
  return { body: bodyOf(tenantId, await rotateCallbackSecret(table, tenantId, rotation)) }
}

function bodyOf(tenant: string, { current, previous }: WebhookSecrets) {
  return {
    object: 'callback_secret',
    tenant,
    secret: current,
    previous_secret: previous?.secret ?? null,
    previous_until: previous === undefined ? null : Math.trunc(previous.until / 1000),
  }
}
