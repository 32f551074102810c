import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { parseBudgetLimit, periodAt } from '#core/budgets.ts'
import { formatCredits, parseCredits } from '#core/money.ts'
import { verifyLedger } from '#lambdas/admin/verify-ledger.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { watchedItems } from '#store/alerts/alerts.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import { moveKeyBudget } from '#store/budget-moves.ts'
import { readKeyBudget } from '#store/budgets.ts'
import { findCaller } from '#store/callers.ts'
import {
  beginKeyBudget,
  changeKeyBudgetAmount,
  heldInBudget,
  leaveKeyBudget,
  planKeyBudget,
  readBudgetOfKey,
  readKeyBudgets,
  recountKeyBudget,
} from '#store/key-budgets.ts'
import { getApiKey } from '#store/keys/api-keys.ts'
import { generateApiKey, setApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import { type TableWrite, tryTransact } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { spentInPeriod } from '#store/usage.ts'
import { keyBudgetOf, storeKeyBudget } from '../engines/budgets.ts'
import type { TableWithClient } from '../engines/test-table.ts'
import { useOpened } from '../engines/use-opened.ts'
import { useTestTable } from '../engines/use-test-table.ts'
import { openTenant, reserveJob, settledJob, settleJob, TESTER, type TestTenant } from '../engines/video-jobs.ts'
import { openRelayingTenant, startRelayTable } from './relay-ledger/relaying-tenant.ts'

describe('the budget of a key:', () => {
  const { table } = useTestTable()

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

  /** A key that replaces another one and shares its budget. */
  async function replacementOf(tenant: TestTenant, { keyId }: TestKey): Promise<TestKey> {
    const { listing } = await getApiKey(table, keyId)
    const replaces = { keyId, expiresAt: null, revision: listing.revision, endsAt: EVE * 1000 + 60_000 }
    return await newKey(tenant, undefined, { budget: listing.budget ?? undefined, replaces })
  }

  /** What the next request of a key reads of it. */
  async function requestOf({ keyDigest, keyId }: TestKey) {
    const caller = await findCaller(table, keyDigest, EVE)
    return { keyDigest, keyId, keyRevision: caller?.revision, budget: caller?.budget, createdAt: EVE }
  }

  const brokenOf = async ({ tenantId }: TestTenant) =>
    (await verifyLedger(table, tenantId)).map(({ message }) => message)
  const settled = async (key: TestKey, bill: string) => settledJob(table, key, { ...(await requestOf(key)), bill })
  const reserved = async (key: TestKey) => reserveJob(table, key, await requestOf(key))

  async function isWatched({ keyId }: TestKey): Promise<boolean> {
    const watched = (await Array.fromAsync(watchedItems(table))).flat()
    return watched.some((item) => item.of === 'key' && item.budgetId === keyId)
  }

  /** The table, with something that happens after this read. */
  function interruptedAt(meanwhile: number, interruption: () => Promise<unknown>) {
    let reads = 0
    const interrupting =
      <Args extends readonly unknown[], Result>(read: (...args: Args) => Promise<Result>) =>
      async (...args: Args) => {
        const result = await read(...args)
        reads += 1
        if (reads === meanwhile) {
          await interruption()
        }
        return result
      }
    const interrupted = new Proxy(table, {
      get: (target, name) =>
        name === 'readItem'
          ? interrupting(target.readItem.bind(target))
          : name === 'queryPage'
            ? interrupting(target.queryPage.bind(target))
            : Reflect.get(target, name),
    })
    return { table: interrupted, reads: () => reads }
  }

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

    it('begins in the next month where a faster clock has settled in it, with what that month has spent', async () => {
      const key = await newKey(await openTenant(table))
      await settled(key, '0.3')
      await settledJob(table, key, { ...(await requestOf(key)), createdAt: EVE + 120, bill: '0.2' })
      await set(key.keyId, '10/month')
      expect(await keyBudgetOf(table, key.keyId)).toEqual(['2026-12', '0.2', '0', '9.8', '10'])
      expect(await brokenOf(key)).toEqual([])
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
      const next = await replacementOf(tenant, key)
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
      const { entries } = await readAudit(table, { limit: 1, targets: [key.keyId] })
      expect(entries).toMatchObject([{ before: { spent: '0.1', held: '0' }, after: { spent: '0.5', held: '0.7' } }])
      expect(await set(key.keyId, '5/month')).toMatchObject({ isChanged: false })
    })

    it('counts once, whenever another key that shares the budget is set meanwhile', async () => {
      const tenant = await openTenant(table)
      const key = await newKey(tenant, '5/month')
      const other = await replacementOf(tenant, key)
      await settled(key, '0.5')
      await reserved(other)
      const outdated = { credits: '5', spent: '0.1', kind: 'month', atMilliseconds: EVE * 1000 } as const
      let reads = 1
      for (let meanwhile = 1; meanwhile <= reads; meanwhile += 1) {
        await storeKeyBudget(table, key.keyId, outdated)
        const interrupted = interruptedAt(meanwhile, () => set(other.keyId, '5/month'))
        const budget = planKeyBudget(interrupted.table, parseBudgetLimit('9/total'), CLOCK)
        await setApiKey(table, { keyId: key.keyId, settings: { budget }, actor: TESTER })
        reads = interrupted.reads()
        expect([meanwhile, await keyBudgetOf(table, key.keyId)]).toEqual([
          meanwhile,
          ['total', '0.5', '0.7', '7.8', '8.3'],
        ])
        expect(await brokenOf(tenant)).toEqual([])
      }
      expect(reads).toBeGreaterThan(4)
    })

    it('is named by a finding with a key that can be set, if the key that it began with is revoked', async () => {
      const tenant = await openTenant(table)
      const key = await newKey(tenant, '5/month')
      const other = await replacementOf(tenant, key)
      await table.transact({ gone: { Delete: { Key: tableKeys.keyBudget(key.keyId) } } })
      expect(await brokenOf(tenant)).toEqual([`budget ${key.keyId} is missing`])
      await revokeApiKey(table, key.keyId, TESTER)
      expect(await brokenOf(tenant)).toEqual([`budget ${key.keyId} (of key ${other.keyId}) is missing`])
      await set(other.keyId, '5/month')
      expect(await brokenOf(tenant)).toEqual([])
    })

    it('needs nobody once every key that spends it is revoked, also if it is missing', async () => {
      const tenant = await openTenant(table)
      const [key, lost] = [await newKey(tenant, '5/total'), await newKey(tenant, '5/total')]
      const other = await replacementOf(tenant, key)
      await table.transact({ gone: { Delete: { Key: tableKeys.keyBudget(lost.keyId) } } })
      for (const [revoked, isStillWatched] of [
        [lost, true],
        [key, true],
        [other, false],
      ] as const) {
        await revokeApiKey(table, revoked.keyId, TESTER)
        expect([revoked.keyId, await isWatched(key)]).toEqual([revoked.keyId, isStillWatched])
      }
      expect(await keyBudgetOf(table, key.keyId)).toEqual(['total', '0', '0', '5', '5'])
    })

    it('needs nobody after a repeated revocation, if the first one ended before it said so', async () => {
      const key = await newKey(await openTenant(table), '5/total')
      const failing = new Proxy(table, {
        get: (target, name) =>
          name === 'updateItem' ? () => Promise.reject(new Error('cut')) : Reflect.get(target, name),
      })
      await expect(revokeApiKey(failing, key.keyId, TESTER)).rejects.toThrow('cut')
      expect((await getApiKey(table, key.keyId)).listing.state).toBe('revoked')
      expect(await isWatched(key)).toBe(true)
      await revokeApiKey(table, key.keyId, TESTER)
      expect(await isWatched(key)).toBe(false)
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

    it('makes a missing budget anew exactly, whatever settles or begins it meanwhile', async () => {
      const tenant = await openTenant(table)
      const key = await newKey(tenant, '90/month')
      const period = periodAt('month', EVE * 1000)
      await settled(key, '0.5')
      const interruptions = {
        'a settlement': (open: Awaited<ReturnType<typeof reserved>>) => settleJob(table, open, '0.2'),
        'another repair': () => set(key.keyId, '90/month'),
        'a first subject': () =>
          tryTransact(table, {
            begun: beginKeyBudget(tenant.tenantId, key.keyId, {
              ...{ limit: parseBudgetLimit('90/month'), period, changedAt: EVE * 1000 },
              ...{ spent: parseCredits('0'), held: parseCredits('0'), isAtBoundary: false },
            }),
          }),
      }
      for (const [name, interruption] of Object.entries(interruptions)) {
        let reads = 1
        for (let meanwhile = 1; meanwhile <= reads; meanwhile += 1) {
          const open = await reserved(key)
          await table.transact({ gone: { Delete: { Key: tableKeys.keyBudget(key.keyId) } } })
          const interrupted = interruptedAt(meanwhile, () => interruption(open))
          const budget = planKeyBudget(interrupted.table, parseBudgetLimit('90/month'), CLOCK)
          await setApiKey(table, { keyId: key.keyId, settings: { budget }, actor: TESTER })
          reads = interrupted.reads()
          expect([name, meanwhile, await brokenOf(tenant)]).toEqual([name, meanwhile, []])
          const counted = await spentInPeriod(table, tenant.tenantId, { period })
          expect([name, meanwhile, (await keyBudgetOf(table, key.keyId))?.[1]]).toEqual([
            name,
            meanwhile,
            formatCredits(counted),
          ])
        }
        expect(reads).toBeGreaterThan(4)
      }
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

  describe('a key with a budget that is stored again', () => {
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
})

describe('updates of the budget of a key:', () => {
  const engine = useTestTable()
  let id: string
  beforeEach(() => {
    id = uuidv7()
  })

  const NOW = Date.UTC(2026, 10, 22)
  const DAY = periodAt('day', NOW)
  const counted = (limit: string, [spent, held]: readonly [string, string]) => ({
    limit: parseBudgetLimit(limit),
    period: periodAt(parseBudgetLimit(limit).kind, NOW),
    spent: parseCredits(spent),
    held: parseCredits(held),
    changedAt: NOW,
    isAtBoundary: false,
  })
  const write = (change: TableWrite) => engine.table.transact({ change })
  const stored = async () => (await engine.table.readItem(tableKeys.keyBudget(id))) ?? {}
  /** A request of another process, which locks and settles. */
  const move = () =>
    write(
      moveKeyBudget(id, { move: { locked: 0n, closed: 100_000n, billed: 50_000n }, known: DAY, nowMilliseconds: NOW }),
    )
  const start = () => storeKeyBudget(engine.table, id, { credits: '5', spent: '1', kind: 'day', atMilliseconds: NOW })

  describe('beginKeyBudget', () => {
    it('stores a budget with what was counted, and when, once', async () => {
      const begin = beginKeyBudget('acme', id, counted('5/day', ['1', '0.5']))
      await write(begin)
      expect(await keyBudgetOf(engine.table, id)).toEqual(['2026-11-22', '1', '0.5', '3.5', '4.5'])
      expect(readKeyBudget(await stored()).changedAt).toBe(NOW)
      await expect(write(begin)).rejects.toMatchObject({ name: 'ConditionsNotMetError' })
    })
  })

  describe('changeKeyBudgetAmount', () => {
    it('is right whatever moved since it was planned', async () => {
      await start()
      const change = changeKeyBudgetAmount(id, { stored: readKeyBudget(await stored()), amount: parseCredits('2') })
      await move()
      await write(change)
      expect(await keyBudgetOf(engine.table, id)).toEqual(['2026-11-22', '1.05', '-0.1', '1.05', '2.1'])
      expect(readKeyBudget(await stored()).changedAt).toBeUndefined()
    })
  })

  describe('recountKeyBudget', () => {
    it('corrects every amount by what differed when it was counted, whatever moved since', async () => {
      await start()
      const recount = recountKeyBudget(id, readKeyBudget(await stored()), counted('7/month', ['2', '0.5']))
      await move()
      await write(recount)
      expect(await keyBudgetOf(engine.table, id)).toEqual(['2026-11', '2.05', '0.4', '4.55', '6.6'])
      expect(readKeyBudget(await stored()).changedAt).toBe(NOW)
    })

    it('is refused near the end of a period after any settlement, which may count in the next one', async () => {
      await start()
      const item = readKeyBudget(await stored())
      const recount = recountKeyBudget(id, item, { ...counted('7/month', ['2', '0.5']), isAtBoundary: true })
      await move()
      await expect(write(recount)).rejects.toMatchObject({ name: 'ConditionsNotMetError' })
    })

    it('is refused if another command changed the budget meanwhile', async () => {
      await start()
      const item = readKeyBudget(await stored())
      await write(changeKeyBudgetAmount(id, { stored: item, amount: parseCredits('2') }))
      const recount = recountKeyBudget(id, item, counted('5/day', ['2', '0']))
      await expect(write(recount)).rejects.toMatchObject({ name: 'ConditionsNotMetError' })
    })
  })

  it('recountKeyBudget is refused after another recount, even of the same millisecond', async () => {
    await start()
    for (const _ of ['first', 'second']) {
      const item = readKeyBudget(await stored())
      const recount = recountKeyBudget(id, item, counted('5/day', ['2', '0.5']))
      await write(recount)
      await expect(write(recount)).rejects.toMatchObject({ name: 'ConditionsNotMetError' })
    }
    expect(await keyBudgetOf(engine.table, id)).toEqual(['2026-11-22', '2', '0.5', '2.5', '4.5'])
  })

  describe('leaveKeyBudget', () => {
    it('notes the time, and makes no budget that is missing', async () => {
      await expect(write(leaveKeyBudget(id, NOW))).rejects.toMatchObject({ name: 'ConditionsNotMetError' })
      await start()
      await write(leaveKeyBudget(id, NOW))
      expect(readKeyBudget(await stored()).changedAt).toBe(NOW)
      expect(await keyBudgetOf(engine.table, id)).toEqual(['2026-11-22', '1', '0', '4', '5'])
    })
  })
})

describe('heldInBudget', () => {
  const engine = useOpened(startRelayTable)
  let table: TableWithClient
  beforeAll(async () => {
    table = (await engine.fresh()).table
  })

  const TOTAL = { credits: '5', kind: 'total', atMilliseconds: 0 } as const

  it('adds up what open jobs hold in the budget, and not what is settled or in another one', async () => {
    const tenant = await openTenant(table)
    const [budget, other] = [await storeKeyBudget(table, 'a', TOTAL), await storeKeyBudget(table, 'b', TOTAL)]
    await settledJob(table, tenant, { budget, bill: '0.5' })
    await reserveJob(table, tenant, { budget })
    await reserveJob(table, tenant, { budget })
    await reserveJob(table, tenant, { budget: other })
    await reserveJob(table, tenant)
    expect(formatCredits(await heldInBudget(table, tenant.tenantId, 'a'))).toBe('1.4')
  })

  it('adds up what open requests of all processes hold in it', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const budget = await storeKeyBudget(table, 'c', TOTAL)
    await new RelayLedger(table).reserve(tenant.request('1', { budget }))
    await new RelayLedger(table).reserve(tenant.request('0.5', { budget }))
    await new RelayLedger(table).reserve(tenant.request('2'))
    expect(formatCredits(await heldInBudget(table, tenant.tenantId, 'c'))).toBe('1.5')
    expect(formatCredits(await heldInBudget(table, tenant.tenantId, 'nobody'))).toBe('0')
  })
})
