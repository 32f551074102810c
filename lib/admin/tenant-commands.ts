import { grantTenant, makeTenant } from '#adapters/admin/create-tenant.ts'
import type { Table } from '#adapters/stores/table.ts'
import { getTenant, type Tenant } from '#adapters/stores/tenant-store.ts'
import { formatCredits, parseCredits } from '#core/quota/money.ts'
import { type Answer, formatTable } from './answer.ts'

/** `tenant create --name N --credits 10.00` */
export async function createTenant(
  table: Table,
  { name, credits }: { name: string; credits: string },
): Promise<Answer> {
  return describe(await makeTenant(table, { name, credits: parseCredits(credits) }))
}

/** `tenant show --tenant ID`. @throws TenantNotFoundError. */
export async function showTenant(table: Table, { tenant }: { tenant: string }): Promise<Answer> {
  return describe(await getTenant(table, tenant))
}

/** `tenant grant --tenant ID --credits 5`. @throws TenantNotFoundError. */
export async function grantCredits(
  table: Table,
  { tenant, credits }: { tenant: string; credits: string },
): Promise<Answer> {
  return describe(await grantTenant(table, tenant, parseCredits(credits)))
}

function describe({ id, name, webhookSecret, balance }: Tenant): Answer {
  const json = {
    id,
    name,
    available: formatCredits(balance.available),
    held: formatCredits(balance.held),
    spent: formatCredits(balance.spent),
    granted: formatCredits(balance.granted),
    webhook_secret: webhookSecret,
  }
  return { json, text: formatTable(['', ''], Object.entries(json)).trimStart() }
}
