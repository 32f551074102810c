import { beforeAll, describe, expect, it } from 'vitest'
import { getApiKey, listApiKeys } from '#adapters/store/accounts/api-key-listing.ts'
import { putApiKey } from '#adapters/store/accounts/put-api-key.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import { TESTER } from '../../../engines/tester.ts'

const engine = useTestTable()
let table: Table
beforeAll(async () => {
  table = engine.table
  await putApiKey(
    table,
    { keyId: 'one', tenantId: 'acme', models: ['chat'], createdAt: 1_000, digest: 'digest-1' },
    TESTER,
  )
  await putApiKey(
    table,
    {
      keyId: 'two',
      tenantId: 'acme',
      models: null,
      createdAt: 2_000,
      digest: 'digest-2',
      name: 'web',
      expiresAt: 5_999,
      ratePerMinute: 60,
    },
    TESTER,
  )
})

const TWO = {
  keyId: 'two',
  tenantId: 'acme',
  name: 'web',
  state: 'active',
  suspended: false,
  models: null,
  expiresAt: 5_000,
  endBeforeReplacement: undefined,
  ratePerMinute: 60,
  budget: null,
  createdAt: 2_000,
}

describe('api-key-listing', () => {
  it('shows a key with what its changes need, and no digest in the listing', async () => {
    expect(await getApiKey(table, 'two')).toEqual({
      listing: TWO,
      digest: 'digest-2',
      playground: { keys: [], revision: undefined },
    })
  })

  it('shows all keys, with null for what they do not have', async () => {
    const one = { ...TWO, keyId: 'one', name: null, models: ['chat'], expiresAt: null, ratePerMinute: null }
    expect(await listApiKeys(table)).toEqual([{ ...one, createdAt: 1_000 }, TWO])
  })

  it('an unknown key is refused by its id', async () => {
    await expect(getApiKey(table, 'three')).rejects.toMatchObject({
      code: 'not_found',
      message: 'no key three',
    })
  })
})
