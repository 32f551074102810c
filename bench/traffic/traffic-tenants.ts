import { generateApiKey, storeApiKey } from '#adapters/store/accounts/create-api-key.ts'
import { makeTenant } from '#adapters/store/accounts/create-tenant.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { parseCredits } from '#core/money/money.ts'
import { grantedCredits, ratePerMinute } from './check-outcome.ts'

/** A tenant of the traffic, with one key. */
export type TrafficTenant = { readonly id: string; readonly key: string; readonly keyId: string }

type TenantsToMake = {
  readonly count: number
  /** False for keys without a limit. Default: each key has its own. */
  readonly isRateLimited?: boolean
  /** What each is granted. Default: by its number. */
  readonly credits?: string
}

/** Makes tenants; the number of a tenant is its place in the list. */
export async function makeTrafficTenants(
  table: Table,
  { count, isRateLimited = true, credits }: TenantsToMake,
): Promise<readonly TrafficTenant[]> {
  const actor = { name: 'bench', role: 'operator' } as const
  return await Promise.all(
    Array.from({ length: count }, async (_, tenant) => {
      const id = crypto.randomUUID()
      const key = generateApiKey()
      const granted = parseCredits(credits ?? String(grantedCredits(tenant)))
      await makeTenant(table, { id, name: `Traffic ${tenant}`, credits: granted }, actor)
      const limit = isRateLimited ? { ratePerMinute: ratePerMinute(tenant) } : {}
      const keyId = await storeApiKey(table, { key, tenantId: id, models: null, ...limit }, actor)
      return { id, key, keyId }
    }),
  )
}
