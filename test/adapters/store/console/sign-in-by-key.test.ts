import { beforeAll, describe, expect, it } from 'vitest'
import { sha256Hex } from '#adapters/crypto/sha256.ts'
import { generateApiKey, storeApiKey } from '#adapters/store/accounts/create-api-key.ts'
import { makeTenant } from '#adapters/store/accounts/create-tenant.ts'
import { createAdminKey, listAdminKeys, revokeAdminKey } from '#adapters/store/console/admin-keys.ts'
import { findUserOfKey } from '#adapters/store/console/sign-in-by-key.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { ZERO } from '#core/money.ts'
import { startTestTable, useTestTable } from '../../../engines/start-test-table.ts'
import { TESTER } from '../../../engines/tester.ts'

const engine = useTestTable()
beforeAll(async () => {
  await makeTenant(engine.table, { id: 'acme', name: 'Acme', credits: ZERO }, TESTER)
})

const find = (key: string) => findUserOfKey(engine.table, key, Date.now())

describe('findUserOfKey', () => {
  it('knows an admin key until it is revoked', async () => {
    const { key, listing } = await createAdminKey(engine.table, { name: 'ada', role: 'viewer' }, TESTER)
    const { keyId } = listing
    expect(await find(key)).toMatchObject({ kind: 'admin_key', role: 'viewer', keyId, holder: `admin_key:${keyId}` })
    await revokeAdminKey(engine.table, keyId, TESTER)
    expect(await find(key)).toBeUndefined()
  })

  it('refuses an admin key with the id of another', async () => {
    const { listing } = await createAdminKey(engine.table, { name: 'ada', role: 'owner' }, TESTER)
    const other = await startTestTable()
    const forged = await createAdminKey(other.table, { name: 'eve', role: 'owner' }, TESTER)
    await other.close()
    const item = { ...tableKeys.adminKey(forged.listing.keyId), ...listing, digest: sha256Hex('another key') }
    await engine.table.transact({ key: { Put: { Item: item } } })
    expect(await find(forged.key)).toBeUndefined()
  })

  it('knows an API key, with its tenant', async () => {
    const key = generateApiKey()
    const keyId = await storeApiKey(engine.table, { key, tenantId: 'acme', models: null }, TESTER)
    expect(await find(key)).toMatchObject({
      kind: 'api_key',
      role: 'tenant',
      keyId,
      tenant: { id: 'acme', name: 'Acme' },
    })
  })

  it('refuses a key of the playground, which would live on as a session', async () => {
    const parent = generateApiKey()
    const keyId = await storeApiKey(engine.table, { key: parent, tenantId: 'acme', models: null }, TESTER)
    const key = generateApiKey()
    const record = {
      keyId,
      tenantId: 'acme',
      models: null,
      state: 'active',
      expiresAt: Math.trunc(Date.now() / 1000) + 900,
    }
    await engine.table.transact({ key: { Put: { Item: { ...tableKeys.apiKey(sha256Hex(key)), ...record } } } })
    expect(await find(key)).toBeUndefined()
    expect(await find(parent)).toBeDefined()
  })
})

describe('listAdminKeys', () => {
  it('shows every key and never its digest', async () => {
    const keys = await listAdminKeys(engine.table)
    expect(keys.length).toBeGreaterThan(0)
    expect(JSON.stringify(keys)).not.toContain('digest')
  })
})
