import { beforeAll, describe, expect, it } from 'vitest'
import { revokeApiKey } from '#store/keys/api-keys.ts'
import { putApiKey } from '#store/keys/key-changes.ts'
import type { Table } from '#store/table/table.ts'
import { findKey } from '../../../lib/cli/admin/keys.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import { TESTER } from '../../engines/tester.ts'

const engine = useTestTable()
let table: Table
beforeAll(async () => {
  table = engine.table
  await store('k-1', 'web')
  await store('k-2', 'twin')
  await store('k-3', 'twin')
  await store('k-4', 'old')
  await store('k-5', 'old')
  await revokeApiKey(table, 'k-4', TESTER)
  await store('k-6', 'k-1')
  await store('k-7', 'gone')
  await revokeApiKey(table, 'k-7', TESTER)
})

const store = (keyId: string, name: string) =>
  putApiKey(table, { keyId, name, tenantId: 'acme', models: null, createdAt: 1, digest: `digest-of-${keyId}` }, TESTER)

describe('find-key', () => {
  it.each([
    ['k-2', 'k-2'],
    ['web', 'k-1'],
    ['k-1', 'k-1'],
    ['old', 'k-5'],
    ['gone', 'k-7'],
  ])('%s means the key %s: an id before a name, a key in use before a revoked one', async (text, keyId) => {
    expect(await findKey(table, text)).toMatchObject({ keyId })
  })

  it('an id needs one read, however many keys there are', async () => {
    const queryPage = () => Promise.reject(new Error('all keys are read'))
    expect(await findKey({ ...table, queryPage }, 'k-2')).toMatchObject({ keyId: 'k-2', name: 'twin' })
  })

  it('a name of several keys in use is refused with their ids', async () => {
    await expect(findKey(table, 'twin')).rejects.toThrow(
      '--key twin: 2 keys have this name; use the id: k-2 of tenant acme, k-3 of tenant acme',
    )
  })

  it('a word that no key has is refused', async () => {
    await expect(findKey(table, 'x'.repeat(1025))).rejects.toMatchObject({ code: 'not_found' })
    await expect(findKey(table, 'nobody')).rejects.toMatchObject({ code: 'not_found' })
  })
})
