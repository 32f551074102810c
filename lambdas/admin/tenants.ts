import { balanceAmounts, budgetView } from '#core/api/balance.ts'
import { createWebhookSecret } from '#platform/callback-signature.ts'
import type { Actor } from '#store/audit/audit-entry.ts'
import type { Table } from '#store/table/table.ts'
import type { TenantListing } from '#store/tenants/tenants.ts'
import { rotateWebhookSecret, type WebhookSecrets } from '#store/tenants/webhook-secrets.ts'

/** A tenant as the admin API shows it, without its callback secret. */
export function tenantView(tenant: TenantListing, nowMilliseconds: number) {
  const { id, name, state, suspension, balance, openJobs, budget } = tenant
  return {
    id,
    name,
    state,
    suspended_reason: suspension?.reason ?? null,
    balance: balanceAmounts(balance),
    open_jobs: openJobs.count,
    open_jobs_max: openJobs.max,
    budget: budgetView(budget, nowMilliseconds),
  }
}

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
