import { beforeAll, describe, expect, it } from 'vitest'
import { sha256Hex } from '#adapters/crypto/sha256.ts'
import { findCaller } from '#adapters/store/accounts/api-key-record.ts'
import { generateApiKey, storeApiKey } from '#adapters/store/accounts/create-api-key.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { isPlausibleKey, keyIdOf } from '#core/api-key.ts'
import { readPartition } from '../../../engines/audit.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import { TESTER } from '../../../engines/tester.ts'

const engine = useTestTable()
let table: Table
beforeAll(async () => {
  table = engine.table
})

describe('a generated key', () => {
  it('is plausible by its own checksum and never the same', () => {
    const keys = Array.from({ length: 100 }, generateApiKey)
    expect(keys.every(isPlausibleKey)).toBe(true)
    expect(new Set(keys).size).toBe(100)
  })

  it('is stored by its digest alone', async () => {
    const key = generateApiKey()
    const keyId = await storeApiKey(table, { key, tenantId: 'tenant', models: ['famA-2'] }, TESTER)
    expect(keyId).toBe(keyIdOf(key))
    expect(await findCaller(table, sha256Hex(key), 0)).toMatchObject({ tenantId: 'tenant', models: ['famA-2'] })
    const written = [...(await readPartition(table, 'KEYS')), ...(await readPartition(table, `K#${sha256Hex(key)}`))]
    expect(written.length).toBeGreaterThan(0)
    expect(JSON.stringify(written)).not.toContain(key)
  })

  it('of another shape is known by the beginning of its digest', async () => {
    const keyId = await storeApiKey(table, { key: 'local-key', tenantId: 'tenant', models: null }, TESTER)
    expect(keyId).toBe(sha256Hex('local-key').slice(0, 8))
  })
})
