import { generateApiKey, storeApiKey } from '#adapters/admin/create-api-key.ts'
import { listApiKeys, revokeApiKey } from '#adapters/stores/key-admin.ts'
import type { Table } from '#adapters/stores/table.ts'
import { getTenant } from '#adapters/stores/tenant-store.ts'
import { type Answer, formatTable } from './answer.ts'
import { UsageError } from './usage-error.ts'

/** `key create --tenant ID [--models a,b]`: the only time that the key is shown. @throws TenantNotFoundError. */
export async function createKey(
  table: Table,
  { tenant, models }: { tenant: string; models: string | undefined },
): Promise<Answer> {
  await getTenant(table, tenant)
  const allowed =
    models === undefined
      ? null
      : models
          .split(',')
          .map((model) => model.trim())
          .filter((model) => model !== '')
  if (allowed?.length === 0) {
    throw new UsageError('--models names no model; leave it out for all models')
  }
  const key = generateApiKey()
  const id = await storeApiKey(table, { key, tenantId: tenant, models: allowed })
  const json = { id, key, tenant, models: allowed }
  return {
    json,
    text: `key ${id} for tenant ${tenant}, ${allowed === null ? 'all models' : allowed.join(', ')}\n\n${key}\n\nIt is shown this once.`,
  }
}

/** `key list` */
export async function listKeys(table: Table): Promise<Answer> {
  const keys = (await listApiKeys(table)).map(({ keyId, tenantId, state, models, createdAt }) => ({
    id: keyId,
    tenant: tenantId,
    state,
    models,
    created_at: new Date(createdAt).toISOString(),
  }))
  const rows = keys.map(({ id, tenant, state, models, created_at }) => [
    id,
    tenant,
    state,
    models?.join(',') ?? 'all',
    created_at,
  ])
  return { json: { keys }, text: formatTable(['KEY', 'TENANT', 'STATE', 'MODELS', 'CREATED'], rows) }
}

/** `key revoke --key ID`. @throws ApiKeyNotFoundError. */
export async function revokeKey(table: Table, { key }: { key: string }): Promise<Answer> {
  await revokeApiKey(table, key)
  return { json: { id: key, state: 'revoked' }, text: `key ${key} is revoked from the next request on` }
}
