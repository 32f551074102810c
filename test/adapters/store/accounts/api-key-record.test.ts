import { beforeAll, describe, expect, it } from 'vitest'
import { activeKeyCheck, findCaller, readApiKeyRecord } from '#adapters/store/accounts/api-key-record.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'

const NOW = 1_000
const KEY = { tenantId: 'tenant', keyId: 'key', state: 'active', models: null }

const engine = useTestTable()
let table: Table
beforeAll(async () => {
  table = engine.table
})

let keys = 0
async function storeKey(changes: Readonly<Record<string, unknown>>): Promise<string> {
  keys += 1
  const digest = `digest-${keys}`
  await table.transact({ key: { Put: { Item: { ...tableKeys.apiKey(digest), ...KEY, ...changes } } } })
  return digest
}

async function passesCheck(keyDigest: string, revision?: number): Promise<boolean> {
  try {
    await table.transact({ key: { ConditionCheck: activeKeyCheck({ keyDigest, revision }, NOW) } })
    return true
  } catch (error) {
    expect(error).toMatchObject({ name: 'ConditionsNotMetError' })
    return false
  }
}

describe('api-key-record', () => {
  it.each([
    ['an active key', {}, true],
    ['a key that expires in the next second', { expiresAt: NOW + 1 }, true],
    ['a key that expires in this second', { expiresAt: NOW }, false],
    ['a key that has expired', { expiresAt: NOW - 1 }, false],
    ['a revoked key', { state: 'revoked' }, false],
    ['a key of a suspended tenant', { suspended: true }, false],
    ['a revoked key of a suspended tenant', { state: 'revoked', suspended: true }, false],
  ])('%s: the read and the check of a transaction agree', async (_, changes, isUsable) => {
    const digest = await storeKey(changes)
    expect((await findCaller(table, digest, NOW)) !== undefined).toBe(isUsable)
    expect(await passesCheck(digest)).toBe(isUsable)
  })

  it.each([undefined, 1, 2])(
    'a key with the revision %j passes the check of a request that read this one, and no other',
    async (stored) => {
      const digest = await storeKey({ revision: stored })
      expect((await findCaller(table, digest, NOW))?.revision).toBe(stored)
      for (const revision of [undefined, 1, 2]) {
        expect([revision, await passesCheck(digest, revision)]).toEqual([revision, revision === stored])
      }
    },
  )

  it('an unknown key has no caller and fails the check', async () => {
    expect(await findCaller(table, 'unknown', NOW)).toBeUndefined()
    expect(await passesCheck('unknown')).toBe(false)
  })

  it('a caller has the budget of its key, with its kind of period', async () => {
    const digest = await storeKey({ budgetId: 'first', budgetPeriod: 'month' })
    expect(await findCaller(table, digest, NOW)).toMatchObject({ budget: { id: 'first', kind: 'month' } })
    expect((await findCaller(table, await storeKey({}), NOW))?.budget).toBeUndefined()
  })

  it('a caller has the models and the rate of its key', async () => {
    const digest = await storeKey({ models: ['chat-default'], ratePerMinute: 60 })
    expect(await findCaller(table, digest, NOW)).toEqual({
      tenantId: 'tenant',
      keyId: 'key',
      keyDigest: digest,
      models: ['chat-default'],
      ratePerMinute: 60,
    })
  })

  it('an item without models is refused, and does not become a key for all models', () => {
    const { models, ...item } = KEY
    expect(() => readApiKeyRecord(item, 'digest')).toThrow()
  })
})
