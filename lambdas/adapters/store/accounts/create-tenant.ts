import { v7 as uuidv7 } from 'uuid'
import type { Microcredits } from '#core/money/money.ts'
import { createWebhookSecret } from '../../outbound/callback-signature.ts'
import type { Table } from '../table/table.ts'
import { createTenant, getTenant, grantCredits, type Tenant } from './tenant-store.ts'

type TenantToMake = {
  readonly id?: string
  readonly name: string
  readonly credits: Microcredits
  /** Video jobs that may be open at a time; null for no limit, as when left out. */
  readonly openJobsMax?: number | null
}

/** Makes a tenant with a callback secret and a first grant, and reads it. @throws TenantExistsError. */
export async function makeTenant(
  table: Table,
  { id = uuidv7(), name, credits, openJobsMax = null }: TenantToMake,
): Promise<Tenant> {
  await createTenant(table, {
    id,
    name,
    credits,
    openJobsMax,
    webhookSecret: createWebhookSecret(),
    grantId: uuidv7(),
    nowMilliseconds: Date.now(),
  })
  return await getTenant(table, id)
}

/** The tenant after a grant, and whether the grant is new: a repeated one adds nothing. */
type Granted = { readonly tenant: Tenant; readonly isNew: boolean }

/**
 * Grants credits, once for each id of a grant.
 * @param grant.id names the ledger row; a new id when left out.
 * @throws TenantNotFoundError; GrantIdTakenError.
 */
export async function grantTenant(
  table: Table,
  tenantId: string,
  { id = uuidv7(), credits }: { id?: string | undefined; credits: Microcredits },
): Promise<Granted> {
  const isNew = await grantCredits(table, tenantId, { grantId: id, credits, nowMilliseconds: Date.now() })
  return { tenant: await getTenant(table, tenantId), isNew }
}
