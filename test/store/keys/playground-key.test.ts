import { describe, expect, it } from '@jest/globals'
import { parseCredits } from '#core/money.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import { findCaller } from '#store/callers.ts'
import { reserveQuota } from '#store/job-ledger/reserve-quota.ts'
import { listApiKeys } from '#store/keys/api-keys.ts'
import { generateApiKey, setApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { createPlaygroundKey, ownersKeyId } from '#store/keys/playground-key.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import type { Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { resumeTenant, suspendTenant } from '#store/tenants/tenant-lifecycle.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { newJob, openTenant, TESTER, type TestTenant } from '../../engines/video-jobs.ts'

const MINUTE = 60_000

const { table } = useTestTable()

/** A tenant, and a key of it that makes playground keys. */
async function openParent(limits: { budget?: string; expiresAt?: number } = {}) {
  const tenant = await openTenant(table)
  const key = generateApiKey()
  const budgetLimit =
    limits.budget === undefined ? {} : { budgetLimit: { amount: parseCredits(limits.budget), kind: 'month' as const } }
  const stored = {
    key,
    tenantId: tenant.tenantId,
    models: ['a'],
    ratePerMinute: 7,
    expiresAt: limits.expiresAt,
    ...budgetLimit,
  }
  const keyId = await storeApiKey(table, stored, TESTER)
  return { tenant, keyId, key }
}

type Asked = { keyId?: string | undefined; tenant: TestTenant; session?: string; now?: number; in?: Table }

async function make({ keyId, tenant, session = 'session', now = Date.now(), in: inTable = table }: Asked) {
  const wish = { keyId, tenantId: tenant.tenantId, sessionId: session, actor: TESTER, nowMilliseconds: now }
  return await createPlaygroundKey(inTable, wish)
}

const callerOf = (key: string, at = Date.now()) => findCaller(table, sha256Hex(key), Math.trunc(at / 1000))

describe('createPlaygroundKey: a key made with an API key', () => {
  it('has its tenant, models, rate, budget and public id for 15 minutes, and stands in no list', async () => {
    const { tenant, keyId } = await openParent({ budget: '5' })
    const before = await listApiKeys(table)
    const now = Date.now()
    const { key, expiresAt } = await make({ keyId, tenant, now })
    expect(expiresAt).toBe(Math.trunc(now / 1000) + 900)
    expect(await callerOf(key, now + 14 * MINUTE)).toMatchObject({
      ...{ tenantId: tenant.tenantId, keyId, models: ['a'], ratePerMinute: 7 },
      budget: { id: keyId, kind: 'month' },
    })
    expect(await callerOf(key, now + 15 * MINUTE)).toBeUndefined()
    expect(await listApiKeys(table)).toEqual(before)
    const item = await table.readItem(tableKeys.apiKey(sha256Hex(key)))
    expect(Number(item?.ttl)).toBeGreaterThan(expiresAt)
    const { entries } = await readAudit(table, { limit: 1, targets: [keyId] })
    expect(entries).toMatchObject([{ action: 'playground-key create', actor: 'tester@test', tenant: tenant.tenantId }])
    expect(JSON.stringify(entries)).not.toContain(key)
  })

  it('spends the budget of that key, and no more', async () => {
    const { tenant, keyId } = await openParent({ budget: '1' })
    const playground = await make({ keyId, tenant })
    const create = async () => {
      const caller = await callerOf(playground.key)
      await reserveQuota(table, newJob(tenant, { keyDigest: sha256Hex(playground.key), keyId, budget: caller?.budget }))
    }
    await create()
    await expect(create()).rejects.toThrow('budget exceeded')
    expect(await table.readItem(tableKeys.keyBudget(keyId))).toMatchObject({ held: 700_000 })
  })

  it('never outlives that key', async () => {
    const now = Date.now()
    const { tenant, keyId } = await openParent({ expiresAt: now + 5 * MINUTE })
    expect((await make({ keyId, tenant, now })).expiresAt).toBe(Math.trunc((now + 5 * MINUTE) / 1000))
  })

  type Change = (inTable: Table, parent: { readonly keyId: string; readonly tenantId: string }) => Promise<unknown>
  const CHANGES: readonly (readonly [string, Change])[] = [
    ['revoked', (inTable, { keyId }) => revokeApiKey(inTable, keyId, TESTER)],
    ['changed', (inTable, { keyId }) => setApiKey(inTable, { keyId, settings: { name: 'new' }, actor: TESTER })],
    ['suspended', (inTable, { tenantId }) => suspendTenant(inTable, tenantId, { actor: TESTER })],
  ]
  const replace: Change = (inTable, { keyId, tenantId }) => {
    const replaces = { keyId, expiresAt: null, endsAt: Date.now() + MINUTE }
    return storeApiKey(inTable, { key: generateApiKey(), tenantId, models: null, replaces }, TESTER)
  }

  /** Makes one playground key before a change of its parent, and a second one right before the first transaction of the change. */
  async function makeDuring(change: Change) {
    const { tenant, keyId } = await openParent()
    const keys = [await make({ keyId, tenant })]
    const busy: Table = {
      ...table,
      transact: async (...parameters) => {
        if (keys.length === 1) {
          keys.push(await make({ keyId, tenant }))
        }
        await table.transact(...parameters)
      },
    }
    await change(busy, { keyId, tenantId: tenant.tenantId })
    return await Promise.all(keys.map(({ key }) => callerOf(key)))
  }

  it.each([...CHANGES, ['replaced', replace] as const])('ends when that key is %s', async (_, change) => {
    const { tenant, keyId } = await openParent()
    const keys = [await make({ keyId, tenant }), await make({ keyId, tenant, session: 'other' })]
    await change(table, { keyId, tenantId: tenant.tenantId })
    for (const { key } of keys) {
      expect(await callerOf(key)).toBeUndefined()
    }
  })

  it.each(CHANGES)('ends like an earlier one when it is made while that key is being %s', async (_, change) => {
    expect(await makeDuring(change)).toEqual([undefined, undefined])
  })

  it('keeps that key from being replaced meanwhile, also when an earlier one was made', async () => {
    await expect(makeDuring(replace)).rejects.toMatchObject({ code: 'changed_meanwhile' })
  })

  it('is refused for a key that is revoked, expired or suspended', async () => {
    const revoked = await openParent()
    await revokeApiKey(table, revoked.keyId, TESTER)
    await expect(make(revoked)).rejects.toThrow('invalid api key')
    const expired = await openParent({ expiresAt: Date.now() + MINUTE })
    await expect(make({ ...expired, now: Date.now() + 2 * MINUTE })).rejects.toThrow('invalid api key')
    const suspended = await openParent()
    await suspendTenant(table, suspended.tenant.tenantId, { actor: TESTER })
    await expect(make(suspended)).rejects.toThrow('invalid api key')
  })

  it('is one of three of a session, of which the oldest ends, and does not touch those of another session', async () => {
    const { tenant, keyId } = await openParent()
    const other = await make({ keyId, tenant, session: 'other' })
    const keys: string[] = []
    for (let index = 0; index < 5; index += 1) {
      keys.push((await make({ keyId, tenant })).key)
    }
    const isLive = await Promise.all([other.key, ...keys].map(async (key) => (await callerOf(key)) !== undefined))
    expect(isLive).toEqual([true, false, false, true, true, true])
  })

  it('that is made while that key is revoked does not stay behind', async () => {
    const { tenant, keyId } = await openParent()
    const outcomes = await Promise.allSettled([
      ...Array.from({ length: 4 }, (_, index) => make({ keyId, tenant, session: `session ${index}` })),
      revokeApiKey(table, keyId, TESTER),
    ])
    await revokeApiKey(table, keyId, TESTER)
    for (const outcome of outcomes) {
      const key = outcome.status === 'fulfilled' ? outcome.value?.key : undefined
      expect(key === undefined ? undefined : await callerOf(key)).toBeUndefined()
    }
  })
})

describe('createPlaygroundKey: a key made by an owner', () => {
  it('belongs to the tenant, may use every model, and ends when the tenant is suspended', async () => {
    const tenant = await openTenant(table)
    const { key } = await make({ tenant })
    expect(await callerOf(key)).toMatchObject({
      tenantId: tenant.tenantId,
      keyId: ownersKeyId('session'),
      models: null,
    })
    await suspendTenant(table, tenant.tenantId, { actor: TESTER })
    expect(await callerOf(key)).toBeUndefined()
    await expect(make({ tenant })).rejects.toThrow('is suspended')
    await resumeTenant(table, tenant.tenantId, { actor: TESTER })
    expect(await callerOf(key)).toBeUndefined()
    expect(await callerOf((await make({ tenant })).key)).toBeDefined()
  })

  it('is refused for a tenant that does not exist', async () => {
    const nobody = { tenantId: 'nobody', keyDigest: '', webhookSecret: '' }
    await expect(make({ tenant: nobody })).rejects.toThrow('no tenant nobody')
  })
})
