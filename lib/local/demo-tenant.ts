import { existsSync, readFileSync } from 'node:fs'
import { generateApiKey, storeApiKey } from '#adapters/store/accounts/create-api-key.ts'
import { makeTenant } from '#adapters/store/accounts/create-tenant.ts'
import { getTenant, type Tenant, TenantExistsError } from '#adapters/store/accounts/tenant-store.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { bearerKey, isPlausibleKey, keyIdOf } from '#core/api-key.ts'
import type { Microcredits } from '#core/money/money.ts'
import { replaceFile } from '../config/replace-file.ts'
import type { DataDirectory } from './data-directory.ts'

/** A key that could never be used. */
class InvalidLocalKeyError extends Error {
  override readonly name = 'InvalidLocalKeyError'
}

/** The tenant that every local host has. */
const DEMO_TENANT_ID = 'demo'

/** The demo tenant, and a key of it that is valid. */
export type DemoAccess = { readonly tenant: Tenant; readonly key: string }

/** Makes the demo tenant at the first start, and a key for it: the given one, or one that stays the same over restarts. */
export async function openDemoTenant(
  table: Table,
  { credits, apiKey, data }: { credits: Microcredits; apiKey: string | undefined; data: DataDirectory },
): Promise<DemoAccess> {
  try {
    await makeTenant(table, { id: DEMO_TENANT_ID, name: 'Demo', credits })
  } catch (error) {
    if (!(error instanceof TenantExistsError)) {
      throw error
    }
  }
  const key = apiKey ?? keptKey(data.file('demo-key'))
  requireUsable(key)
  await storeApiKey(table, { key, tenantId: DEMO_TENANT_ID, models: null })
  return { tenant: await getTenant(table, DEMO_TENANT_ID), key }
}

/** Every request would be refused with a key that no header can carry, or whose checksum is wrong. */
function requireUsable(key: string): void {
  if (bearerKey(`Bearer ${key}`) !== key) {
    throw new InvalidLocalKeyError('--api-key: use visible ASCII characters without spaces, at most 512')
  }
  if (!isPlausibleKey(key)) {
    throw new InvalidLocalKeyError(
      '--api-key: a key that begins with rg_live_ needs the checksum of one; leave it out to get a new key',
    )
  }
}

/** A file that was emptied or cut holds no key that would be taken: then a new one is made. */
function keptKey(file: string): string {
  const kept = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (keyIdOf(kept) !== undefined && isPlausibleKey(kept)) {
    return kept
  }
  const key = generateApiKey()
  replaceFile(file, key, 0o600)
  return key
}
