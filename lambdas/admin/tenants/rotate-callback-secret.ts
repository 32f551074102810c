import { createWebhookSecret } from '#platform/callback-signature.ts'
import type { Actor } from '#store/audit/audit-entry.ts'
import type { Table } from '#store/table/table.ts'
import { rotateWebhookSecret, type WebhookSecrets } from '#store/tenants/webhook-secrets.ts'

type Rotation = {
  /** The secret as it was read. */
  readonly current: string
  /** How long the old secret signs too. */
  readonly overlapMilliseconds: number
  readonly actor: Actor
  readonly nowMilliseconds: number
}

/**
 * Replaces the callback secret of a tenant.
 * @throws StoreRefusal `changed_meanwhile` if somebody else replaced it since it was read.
 */
export async function rotateCallbackSecret(
  table: Table,
  tenantId: string,
  rotation: Rotation,
): Promise<WebhookSecrets> {
  const { current, overlapMilliseconds, actor, nowMilliseconds } = rotation
  const secret = createWebhookSecret()
  // Without an overlap, as after a leak, the table does not keep the old secret.
  const previousUntil = overlapMilliseconds === 0 ? undefined : nowMilliseconds + overlapMilliseconds
  await rotateWebhookSecret(table, tenantId, { replaces: current, secret, previousUntil, actor })
  return {
    current: secret,
    previous: previousUntil === undefined ? undefined : { secret: current, until: previousUntil },
  }
}
