import { v7 as uuidv7 } from 'uuid'
import type { Microcredits } from '#core/quota/money.ts'
import { createWebhookSecret } from '../outbound/callback-signature.ts'
import type { Table } from '../stores/table.ts'
import { createTenant, getTenant, grantCredits, type Tenant } from '../stores/tenant-store.ts'

/** Makes a tenant with a callback secret and a first grant, and answers it. @throws TenantExistsError. */
export async function makeTenant(
  table: Table,
  { id = uuidv7(), name, credits }: { id?: string; name: string; credits: Microcredits },
): Promise<Tenant> {
  await createTenant(table, {
    id,
    name,
    credits,
    webhookSecret: createWebhookSecret(),
    grantId: uuidv7(),
    nowMilliseconds: Date.now(),
  })
  return await getTenant(table, id)
}

/** Grants credits and answers the tenant after it. @throws TenantNotFoundError. */
export async function grantTenant(table: Table, tenantId: string, credits: Microcredits): Promise<Tenant> {
  await grantCredits(table, tenantId, { grantId: uuidv7(), credits, nowMilliseconds: Date.now() })
  return await getTenant(table, tenantId)
}
