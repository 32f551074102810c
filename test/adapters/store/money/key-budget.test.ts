import { beforeAll, describe, expect, it } from 'vitest'
import { sha256Hex } from '#adapters/crypto/sha256.ts'
import { getApiKey } from '#adapters/store/accounts/api-key-listing.ts'
import { findCaller } from '#adapters/store/accounts/api-key-record.ts'
import { generateApiKey, storeApiKey } from '#adapters/store/accounts/create-api-key.ts'
import { setApiKey } from '#adapters/store/accounts/key-settings.ts'
import { readAudit } from '#adapters/store/audit/read-audit.ts'
import { planKeyBudget, readBudgetOfKey, readKeyBudgets } from '#adapters/store/money/key-budget.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { parseBudgetLimit } from '#core/budgets.ts'
import { verifyLedger } from '#lambdas/admin/ledger/verify-ledger.ts'
import { keyBudgetOf, storeKeyBudget } from '../../../engines/budgets.ts'
import { settledJob, settleJob } from '../../../engines/settled-job.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'
import { TESTER } from '../../../engines/tester.ts'
import { openTenant, reserveJob, type TestTenant } from '../../../engines/video-jobs.ts'

const engine = useTestTable()
let table: TableWithClient
beforeAll(async () => {
  table = engine.table
})

/** The last second of a day and of a month. */
const EVE = Date.UTC(2026, 10, 30, 23, 59, 59) / 1000
const CLOCK = { nowMilliseconds: () => EVE * 1000 }

const set = (keyId: string, limit: string | null) =>
  setApiKey(table, {
    keyId,
    settings: { budget: planKeyBudget(table, limit === null ? null : parseBudgetLimit(limit), CLOCK) },
    actor: TESTER,
  })

type TestKey = TestTenant & { readonly keyId: string }

async function newKey(tenant: TestTenant, budget?: string, rest = {}): Promise<TestKey> {
  const key = generateApiKey()
  const limit = budget === undefined ? {} : { budgetLimit: parseBudgetLimit(budget) }
  const keyId = await storeApiKey(table, { key, tenantId: tenant.tenantId, models: null, ...limit, ...rest }, TESTER)
  return { ...tenant, keyDigest: sha256Hex(key), keyId }
}

/** What the next request of a key reads of it. */
async function requestOf({ keyDigest, keyId }: TestKey) {
  const caller = await findCaller(table, keyDigest, EVE)
  return { keyDigest, keyId, keyRevision: caller?.revision, budget: caller?.budget, createdAt: EVE }
}

const brokenOf = async ({ tenantId }: TestTenant) => (await verifyLedger(table, tenantId)).map(({ message }) => message)
const settled = async (key: TestKey, bill: string) => settledJob(table, key, { ...(await requestOf(key)), bill })
const reserved = async (key: TestKey) => reserveJob(table, key, await requestOf(key))

describe('planKeyBudget', () => {
  it('begins with what the counters of the key say, and without what is open at that moment', async () => {
    const tenant = await openTenant(table)
    const [key, other] = [await newKey(tenant), await newKey(tenant)]
    await settled(key, '0.5')
    await settled(other, '0.6')
    await reserved(key)
    await set(key.keyId, '2/month')
    expect(await keyBudgetOf(table, key.keyId)).toEqual(['2026-11', '0.5', '0', '1.5', '2'])
    await reserved(key)
    expect(await keyBudgetOf(table, key.keyId)).toEqual(['2026-11', '0.5', '0.7', '0.8', '1.3'])
  })

  it('holds at the next request, even if that has read the key before', async () => {
    const key = await newKey(await openTenant(table))
    const before = await requestOf(key)
    await set(key.keyId, '0.5/month')
    await expect(reserveJob(table, key, before)).rejects.toMatchObject({ name: 'InvalidApiKeyError' })
    await expect(reserved(key)).rejects.toMatchObject({ name: 'BudgetExceededError' })
  })

  it('changes the amount while requests are open, even below what is spent', async () => {
    const key = await newKey(await openTenant(table))
    await set(key.keyId, '2/month')
    await settled(key, '0.5')
    await reserved(key)
    await set(key.keyId, '1/month')
    expect(await keyBudgetOf(table, key.keyId)).toEqual(['2026-11', '0.5', '0.7', '-0.2', '0.3'])
    await expect(reserved(key)).rejects.toMatchObject({ name: 'BudgetExceededError' })
    await set(key.keyId, '3/month')
    await reserved(key)
  })

  it('counts again for another kind of period, and keeps what is held', async () => {
    const key = await newKey(await openTenant(table))
    await settledJob(table, key, { ...(await requestOf(key)), createdAt: EVE - 86_400, bill: '0.4' })
    await settled(key, '0.3')
    await set(key.keyId, '5/day')
    await reserved(key)
    await set(key.keyId, '9/month')
    expect(await keyBudgetOf(table, key.keyId)).toEqual(['2026-11', '0.7', '0.7', '7.6', '8.3'])
    expect((await getApiKey(table, key.keyId)).listing.budget).toEqual({ id: key.keyId, kind: 'month' })
  })

  it('takes the key out of its budget, and back in with what the period has spent', async () => {
    const key = await newKey(await openTenant(table))
    await set(key.keyId, '2/month')
    await settled(key, '0.5')
    await set(key.keyId, null)
    expect((await requestOf(key)).budget).toBeUndefined()
    await settled(key, '0.6')
    expect(await keyBudgetOf(table, key.keyId)).toEqual(['2026-11', '0.5', '0', '1.5', '2'])
    await set(key.keyId, '3/month')
    expect(await keyBudgetOf(table, key.keyId)).toEqual(['2026-11', '1.1', '0', '1.9', '3'])
    expect(await brokenOf(key)).toEqual([])
  })

  it('is shared with the successor of a key, which does not begin afresh', async () => {
    const tenant = await openTenant(table)
    const key = await newKey(tenant, '2/total')
    await settled(key, '0.5')
    const { listing } = await getApiKey(table, key.keyId)
    const replaces = { keyId: key.keyId, expiresAt: null, revision: listing.revision, endsAt: EVE * 1000 + 60_000 }
    const next = await newKey(tenant, undefined, { budget: listing.budget ?? undefined, replaces })
    await settled(next, '0.6')
    await reserved(key)
    expect(await keyBudgetOf(table, key.keyId)).toEqual(['total', '1.1', '0.7', '0.2', '1.3'])
    await expect(reserved(next)).rejects.toMatchObject({ name: 'BudgetExceededError' })
    await set(next.keyId, '3/month')
    expect(await keyBudgetOf(table, key.keyId)).toEqual(['2026-11', '1.1', '0.7', '1.2', '2.3'])
    await reserved(key)
    expect(await brokenOf(tenant)).toEqual([])
  })

  it('writes nothing where nothing changes', async () => {
    const key = await newKey(await openTenant(table), '2/month')
    expect(await set(key.keyId, '2/month')).toMatchObject({ isChanged: false })
    expect(await set((await newKey(await openTenant(table))).keyId, null)).toMatchObject({ isChanged: false })
  })

  it('counts again what is spent and held when the same limit is set again', async () => {
    const key = await newKey(await openTenant(table), '5/month')
    await settled(key, '0.5')
    await reserved(key)
    // As after a version that does not move budgets, or after an old copy of the item was put back.
    await storeKeyBudget(table, key.keyId, { credits: '5', spent: '0.1', kind: 'month', atMilliseconds: EVE * 1000 })
    expect(await brokenOf(key)).toHaveLength(2)
    expect(await set(key.keyId, '5/month')).toMatchObject({ isChanged: true })
    expect(await keyBudgetOf(table, key.keyId)).toEqual(['2026-11', '0.5', '0.7', '3.8', '4.3'])
    expect(await brokenOf(key)).toEqual([])
    expect(await set(key.keyId, '5/month')).toMatchObject({ isChanged: false })
  })

  it('makes a budget anew that is missing, with what is spent and held, so that no key is locked for ever', async () => {
    const key = await newKey(await openTenant(table), '5/month')
    await settled(key, '0.5')
    const open = await reserved(key)
    await table.transact({ gone: { Delete: { Key: tableKeys.keyBudget(key.keyId) } } })
    await expect(reserved(key)).rejects.toMatchObject({ name: 'BudgetExceededError' })
    expect(await brokenOf(key)).toEqual([`budget ${key.keyId} is missing`])
    await set(key.keyId, '5/month')
    expect(await keyBudgetOf(table, key.keyId)).toEqual(['2026-11', '0.5', '0.7', '3.8', '4.3'])
    await reserved(key)
    await settleJob(table, open, '0.6')
    expect(await keyBudgetOf(table, key.keyId)).toEqual(['2026-11', '1.1', '0.7', '3.2', '4.3'])
    expect(await brokenOf(key)).toEqual([])
  })

  it('leaves a missing budget', async () => {
    const key = await newKey(await openTenant(table), '5/month')
    await table.transact({ gone: { Delete: { Key: tableKeys.keyBudget(key.keyId) } } })
    await set(key.keyId, null)
    await reserved(key)
    expect(await brokenOf(key)).toEqual([])
  })

  it('of two operators, each finds the change of the other', async () => {
    const key = await newKey(await openTenant(table))
    await settled(key, '0.5')
    await Promise.all([set(key.keyId, '2/month'), set(key.keyId, '3/day'), set(key.keyId, '4/month')])
    await set(key.keyId, '5/total')
    expect(await keyBudgetOf(table, key.keyId)).toEqual(['total', '0.5', '0', '4.5', '5'])
    const { entries } = await readAudit(table, { limit: 50, targets: [key.keyId] })
    expect(entries[0]).toMatchObject({ action: 'key set', after: { budget: '5/total' } })
  })
})

describe('a key that is stored again', () => {
  it('keeps its budget', async () => {
    const tenant = await openTenant(table)
    const key = generateApiKey()
    const store = (ratePerMinute: number) =>
      storeApiKey(table, { key, tenantId: tenant.tenantId, models: null, ratePerMinute }, TESTER)
    const keyId = await store(60)
    await set(keyId, '2/month')
    await store(90)
    expect(await findCaller(table, sha256Hex(key), EVE)).toMatchObject({ budget: { id: keyId }, ratePerMinute: 90 })
    expect((await getApiKey(table, keyId)).listing.budget).toEqual({ id: keyId, kind: 'month' })
  })
})

describe('readKeyBudgets', () => {
  it('reads each budget once, and leaves out what is missing', async () => {
    const key = await newKey(await openTenant(table), '2/day')
    const { budget } = (await getApiKey(table, key.keyId)).listing
    const budgets = await readKeyBudgets(table, [
      { budget },
      { budget },
      { budget: null },
      { budget: { id: 'gone', kind: 'day' } },
    ])
    expect([...budgets.keys()]).toEqual([key.keyId])
    expect(budgets.get(key.keyId)).toEqual(await readBudgetOfKey(table, { id: key.keyId, kind: 'day' }))
  })

  it('reads nothing for keys without one', async () => {
    expect(await readKeyBudgets(table, [])).toEqual(new Map())
  })
})
