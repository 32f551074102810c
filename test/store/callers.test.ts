import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { InvalidApiKeyError, ServiceUnavailableError } from '#core/errors.ts'
import { activeKeyCheck, CallerDirectory, findCaller, readApiKeyRecord, SharedReads } from '#store/callers.ts'
import { putApiKey } from '#store/keys/key-changes.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import type { Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import type { TableWithClient } from '../engines/test-table.ts'
import { useOpened } from '../engines/use-opened.ts'
import { useTestTable } from '../engines/use-test-table.ts'
import { TESTER } from '../engines/video-jobs.ts'
import { openRelayingTenant, type RelayingTenant, startRelayTable } from './relay-ledger/relaying-tenant.ts'

describe('CallerDirectory', () => {
  const engine = useOpened(startRelayTable)
  let table: TableWithClient
  let lean: Table
  let tenant: RelayingTenant
  let reads: number
  let now: number
  let callers: CallerDirectory
  beforeEach(async () => {
    ;({ table, lean } = await engine.fresh())
    tenant = await openRelayingTenant(table)
    reads = 0
    now = Date.now()
    callers = directory()
  })

  function directory(): CallerDirectory {
    const readItem: Table['readItem'] = async (key) => {
      reads += 1
      return await lean.readItem(key)
    }
    return new CallerDirectory({ readItem }, { nowMilliseconds: () => now })
  }

  const callerOf = ({ tenantId, keyDigest }: RelayingTenant) => ({
    tenantId,
    keyId: keyDigest.slice(0, 8),
    keyDigest,
    models: null,
  })
  const revoke = () => revokeApiKey(table, tenant.keyDigest.slice(0, 8), TESTER)

  describe('looking up a key,', () => {
    it('reads once and remembers for a minute, saying which of the two it was', async () => {
      expect(await callers.lookUp(tenant.keyDigest)).toEqual({ caller: callerOf(tenant), isConfirmed: true })
      now += 59_999
      expect(await callers.lookUp(tenant.keyDigest)).toEqual({ caller: callerOf(tenant), isConfirmed: false })
      expect(reads).toBe(1)
      now += 1
      expect(await callers.lookUp(tenant.keyDigest)).toMatchObject({ isConfirmed: true })
      expect(reads).toBe(2)
    })

    it('counts the minute from before its read, whose record may be as old as that', async () => {
      const slow = new CallerDirectory(
        {
          readItem: async (key) => {
            reads += 1
            const item = await lean.readItem(key)
            now += 30_000
            return item
          },
        },
        { nowMilliseconds: () => now },
      )
      await slow.lookUp(tenant.keyDigest)
      now += 29_999
      expect(await slow.lookUp(tenant.keyDigest)).toMatchObject({ isConfirmed: false })
      now += 1
      expect(await slow.lookUp(tenant.keyDigest)).toMatchObject({ isConfirmed: true })
      expect(reads).toBe(2)
    })

    it('finds nobody for a key that is unknown, and asks again the next time', async () => {
      expect(await callers.lookUp('unknown')).toBeUndefined()
      expect(await callers.lookUp('unknown')).toBeUndefined()
      expect(reads).toBe(2)
      await putApiKey(table, { keyId: 'k', tenantId: 't', models: ['m'], createdAt: 0, digest: 'unknown' }, TESTER)
      expect(await callers.lookUp('unknown')).toMatchObject({ caller: { tenantId: 't', models: ['m'] } })
    })

    it('finds nobody for a key that is revoked', async () => {
      await revoke()
      expect(await callers.lookUp(tenant.keyDigest)).toBeUndefined()
    })

    it('does not go by a remembered key from the moment of its end on', async () => {
      await table.client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: tableKeys.apiKey(tenant.keyDigest),
          UpdateExpression: 'SET expiresAt = :at',
          ExpressionAttributeValues: { ':at': Math.trunc(now / 1000) + 10 },
        }),
      )
      expect(await callers.lookUp(tenant.keyDigest)).toMatchObject({ isConfirmed: true })
      now = Math.trunc(now / 1000) * 1000 + 9_999
      expect(await callers.lookUp(tenant.keyDigest)).toMatchObject({ isConfirmed: false })
      now += 1
      expect(await callers.lookUp(tenant.keyDigest)).toBeUndefined()
    })

    it('remembers a bounded number of keys', async () => {
      const many = new CallerDirectory({
        readItem: async ({ PK }) => {
          reads += 1
          return { tenantId: PK, keyId: 'k', state: 'active', models: null }
        },
      })
      await many.lookUp('first')
      for (let key = 0; key < 5_000; key += 1) {
        await many.lookUp(String(key))
      }
      reads = 0
      await many.lookUp('4999')
      expect(reads).toBe(0)
      await many.lookUp('first')
      expect(reads).toBe(1)
    })

    it('is unavailable when the table is', async () => {
      engine.faults.fate = () => 'lost_before'
      await expect(callers.lookUp(tenant.keyDigest)).rejects.toBeInstanceOf(ServiceUnavailableError)
    })
  })

  describe('with a key revoked within the minute that it is remembered:', () => {
    beforeEach(async () => {
      await callers.lookUp(tenant.keyDigest)
      await revoke()
    })

    it('is found, not confirmed, and can lock nothing', async () => {
      expect(await callers.lookUp(tenant.keyDigest)).toMatchObject({ isConfirmed: false })
      await expect(new RelayLedger(lean).reserve(tenant.request('1'))).rejects.toBeInstanceOf(InvalidApiKeyError)
      expect(await tenant.balance()).toEqual(['100', '0', '0'])
    })

    it('is refused by its confirmation, and not found after that', async () => {
      await expect(callers.confirm(tenant.keyDigest)).rejects.toBeInstanceOf(InvalidApiKeyError)
      expect(await callers.lookUp(tenant.keyDigest)).toBeUndefined()
    })

    it('is not found once it was forgotten', async () => {
      callers.forget(tenant.keyDigest)
      expect(await callers.lookUp(tenant.keyDigest)).toBeUndefined()
    })
  })

  describe('confirming a key,', () => {
    it('always reads, and what it read is remembered', async () => {
      expect(await callers.confirm(tenant.keyDigest)).toEqual(callerOf(tenant))
      expect(await callers.confirm(tenant.keyDigest)).toEqual(callerOf(tenant))
      expect(reads).toBe(2)
      expect(await callers.lookUp(tenant.keyDigest)).toMatchObject({ isConfirmed: false })
    })

    it('shares a read with everyone who came while another was under way', async () => {
      const callersFound = await Promise.all(Array.from({ length: 50 }, () => callers.confirm(tenant.keyDigest)))
      expect(callersFound).toHaveLength(50)
      expect(reads).toBe(2)
    })

    it('goes by no read that began before: a key revoked during one is refused to whoever comes then', async () => {
      const arrived = Promise.withResolvers<void>()
      const answer = Promise.withResolvers<void>()
      const slow = new CallerDirectory({
        readItem: async (key) => {
          const item = await lean.readItem(key)
          arrived.resolve()
          await answer.promise
          return item
        },
      })
      const early = slow.confirm(tenant.keyDigest)
      await arrived.promise
      await revoke()
      const late = slow.confirm(tenant.keyDigest)
      answer.resolve()
      await expect(late).rejects.toBeInstanceOf(InvalidApiKeyError)
      expect(await early).toEqual(callerOf(tenant))
    })
  })
})

describe('readApiKeyRecord', () => {
  const NOW = 1_000
  const KEY = { tenantId: 'tenant', keyId: 'key', state: 'active', models: null }

  const { table } = useTestTable()

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

/** Reads that end when a test says so, each with the number that it began as. */
function steeredReads() {
  const under: { readonly key: string; finish(): void; fail(): void }[] = []
  const reads = new SharedReads<number>((key) => {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const number = under.length + 1
    under.push({ key, finish: () => resolve(number), fail: () => reject(new Error(`read ${number}`)) })
    return promise
  })
  return { reads, under }
}

/** Everything that is ready to go on has gone on. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('SharedReads: a read', () => {
  it('never serves a request that came after it began: that one waits for the next', async () => {
    const { reads, under } = steeredReads()
    const first = reads.read('a')
    const second = reads.read('a')
    expect(under).toHaveLength(1)
    under[0]?.finish()
    expect(await first).toBe(1)
    await settled()
    expect(under).toHaveLength(2)
    under[1]?.finish()
    expect(await second).toBe(2)
  })

  it('is one for all that came while another was under way', async () => {
    const { reads, under } = steeredReads()
    const first = reads.read('a')
    const later = [reads.read('a'), reads.read('a'), reads.read('a')]
    under[0]?.finish()
    await first
    await settled()
    under[1]?.finish()
    expect(await Promise.all(later)).toEqual([2, 2, 2])
    expect(under).toHaveLength(2)
  })

  it('begins at once when none is under way, and nothing is kept after it', async () => {
    const { reads, under } = steeredReads()
    for (const number of [1, 2]) {
      const value = reads.read('a')
      under[number - 1]?.finish()
      expect(await value).toBe(number)
      await settled()
    }
  })

  it('of one key waits for none of another', () => {
    const { reads, under } = steeredReads()
    void reads.read('a')
    void reads.read('b')
    expect(under.map(({ key }) => key)).toEqual(['a', 'b'])
  })

  it('that fails fails those who share it, and nobody who came later', async () => {
    const { reads, under } = steeredReads()
    const first = reads.read('a').catch((error: Error) => error.message)
    const second = reads.read('a')
    under[0]?.fail()
    expect(await first).toBe('read 1')
    await settled()
    under[1]?.finish()
    expect(await second).toBe(2)
  })
})
