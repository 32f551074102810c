import { beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { parseBudgetLimit } from '#core/budgets.ts'
import { parseCredits } from '#core/money.ts'
import { verifyLedger } from '#lambdas/admin/verify-ledger.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { TenantBudgets } from '#store/budget-moves.ts'
import { readKeyBudget } from '#store/budgets.ts'
import { findCaller } from '#store/callers.ts'
import { reserveQuota } from '#store/job-ledger/reserve-quota.ts'
import { planKeyBudget } from '#store/key-budgets.ts'
import { getApiKey } from '#store/keys/api-keys.ts'
import { generateApiKey, setApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import type { RelayReservation } from '#store/relay-ledger/relay-reservation.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { changeTenant } from '#store/tenants/change-tenant.ts'
import { keyBudgetOf, tenantBudgetOf } from '../engines/budgets.ts'
import { captureTelemetry } from '../engines/emitted-metrics.ts'
import type { TableWithClient } from '../engines/test-table.ts'
import { useOpened } from '../engines/use-opened.ts'
import { newJob, openTenant, TESTER, type TestTenant } from '../engines/video-jobs.ts'
import { outcome, settle, startRelayTable } from './relay-ledger/relaying-tenant.ts'

captureTelemetry()
/** The last second of a day and of a month. */
const EVE = Date.UTC(2026, 10, 30, 23, 59, 59)
/** What each request and each job reserves. */
const EACH = '0.7'

const engine = useOpened(startRelayTable)
let table: TableWithClient
let tenant: TestTenant
beforeEach(async () => {
  table = (await engine.fresh()).table
  tenant = await openTenant(table, '1000')
})

const pause = async () => {
  await new Promise(setImmediate)
}

/** A process: its clock may be behind or ahead, and it remembers what it learns. */
function openProcess(skewMilliseconds = 0) {
  const nowMilliseconds = () => EVE + skewMilliseconds
  const ledger = new RelayLedger(table, { clock: { nowMilliseconds, pause } })
  const tenantBudgets = new TenantBudgets()
  const open: RelayReservation[] = []
  return {
    open,
    relay: async ({ keyDigest, keyId }: TestKey) => {
      const caller = await findCaller(table, keyDigest, EVE / 1000)
      const reservation: RelayReservation = {
        tenantId: tenant.tenantId,
        requestId: uuidv7(),
        keyDigest,
        keyId,
        keyRevision: caller?.revision,
        budget: caller?.budget,
        model: 'chat-default',
        operation: 'create-chat-completion',
        amount: parseCredits(EACH),
        reservedAt: nowMilliseconds(),
      }
      await ledger.reserve(reservation)
      open.push(reservation)
    },
    create: async ({ keyDigest, keyId }: TestKey) => {
      const caller = await findCaller(table, keyDigest, EVE / 1000)
      const createdAt = Math.trunc(nowMilliseconds() / 1000)
      const key = { keyDigest, keyId, keyRevision: caller?.revision, budget: caller?.budget }
      await reserveQuota(table, newJob(tenant, { ...key, createdAt }), { tenantBudgets })
    },
    settleAll: async (bill: string) => {
      await Promise.all(open.splice(0).map((reservation) => ledger.resolve(reservation, settle(bill))))
    },
  }
}

type TestKey = { readonly keyDigest: string; readonly keyId: string }

async function newKey(budgetLimit: string, replaced?: string): Promise<TestKey> {
  const key = generateApiKey()
  const { listing } = replaced === undefined ? { listing: undefined } : await getApiKey(table, replaced)
  const own =
    listing === undefined
      ? { budgetLimit: parseBudgetLimit(budgetLimit) }
      : {
          budget: listing.budget ?? undefined,
          replaces: { keyId: listing.keyId, expiresAt: null, revision: listing.revision, endsAt: EVE + 3_600_000 },
        }
  const keyId = await storeApiKey(table, { key, tenantId: tenant.tenantId, models: null, ...own }, TESTER)
  return { keyDigest: sha256Hex(key), keyId }
}

/** Tries again after a change of the key, as a request does. */
async function attempt(call: () => Promise<void>): Promise<string> {
  for (let tries = 0; tries < 20; tries += 1) {
    const result = await outcome(call())
    if (result !== 'InvalidApiKeyError') {
      return result
    }
  }
  return 'InvalidApiKeyError'
}

const setTenant = (limit: string) =>
  changeTenant(table, {
    tenantId: tenant.tenantId,
    settings: { budget: parseBudgetLimit(limit) },
    actor: TESTER,
    clock: { nowMilliseconds: () => EVE },
  })
const setKey = (keyId: string, limit: string) =>
  setApiKey(table, {
    keyId,
    settings: { budget: planKeyBudget(table, parseBudgetLimit(limit), { nowMilliseconds: () => EVE }) },
    actor: TESTER,
  })
const inOrder = async () => expect(await verifyLedger(table, tenant.tenantId)).toEqual([])

describe('budgets in a race of 64 chats and videos', () => {
  it('let exactly as many through as the budget of the key has room for, while the key is rotated', async () => {
    const old = await newKey('14/total')
    const processes = [openProcess(), openProcess(500), openProcess(2_000)]
    const rotation = newKey('', old.keyId)
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, async (_, index) => {
        const key = index % 2 === 0 ? old : await rotation
        const process = processes[index % 3] ?? openProcess()
        return await attempt(() => (index % 4 === 0 ? process.create(key) : process.relay(key)))
      }),
    )
    expect(outcomes.filter((result) => result === 'done')).toHaveLength(20)
    expect(new Set(outcomes)).toEqual(new Set(['done', 'BudgetExceededError']))
    expect(await keyBudgetOf(table, old.keyId)).toEqual(['total', '0', '14', '0', '0'])
    await inOrder()
  })

  it('let exactly as many through as the budget of the tenant has room for, over the end of a period', async () => {
    const key = await newKey('1000/total')
    await setTenant('14/day')
    const processes = [openProcess(-5_000), openProcess(2_000), openProcess(5_000)]
    const race = () =>
      Promise.all(
        Array.from({ length: 64 }, async (_, index) => {
          const process = processes[index % 3] ?? openProcess()
          return await attempt(() => (index % 4 === 0 ? process.create(key) : process.relay(key)))
        }),
      )
    const first = await race()
    expect(first.filter((result) => result === 'done')).toHaveLength(20)
    for (const process of processes) {
      await process.settleAll('0.1')
    }
    const [id, , held] = (await tenantBudgetOf(table, tenant.tenantId)) ?? []
    expect(id).toBe('2026-12-01')
    const open = first.filter((result, index) => result === 'done' && index % 4 === 0).length
    expect(held).toBe(String(Number((open * 0.7).toFixed(6))))
    await inOrder()
  })
})

describe('changes of budgets during a race', () => {
  it('spend no more than the amount that stood when the money was reserved, and leave every sum true', async () => {
    const key = await newKey('35/month')
    const processes = [openProcess(), openProcess(), openProcess()]
    const traffic = Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const process = processes[index % 3] ?? openProcess()
        const result = await attempt(() => process.relay(key))
        if (index % 5 === 0) {
          await process.settleAll('0.3')
        }
        return result
      }),
    )
    await Promise.all([setKey(key.keyId, '21/month'), setTenant('28/month')])
    await Promise.all([setKey(key.keyId, '14/month'), setTenant('30/day')])
    const outcomes = await traffic
    expect([...new Set(outcomes)].every((result) => result === 'done' || result === 'BudgetExceededError')).toBe(true)
    const item = await table.readItem(tableKeys.keyBudget(key.keyId))
    const { spent, held } = readKeyBudget(item ?? {})
    expect(spent + held <= parseCredits('35')).toBe(true)
    await inOrder()
    for (const process of processes) {
      await process.settleAll('0.3')
    }
    await inOrder()
    expect((await keyBudgetOf(table, key.keyId))?.[2]).toBe('0')
  })

  it('count every settlement in a budget of a tenant that begins in the middle of traffic', async () => {
    const key = await newKey('1000/total')
    const processes = [openProcess(), openProcess(), openProcess()]
    const traffic = Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const process = processes[index % 3] ?? openProcess()
        await attempt(() => process.relay(key))
        await process.settleAll('0.3')
      }),
    )
    await setTenant('500/month')
    await traffic
    const [, spent, held] = (await tenantBudgetOf(table, tenant.tenantId)) ?? []
    expect([spent, held]).toEqual(['18', '0'])
    await inOrder()
  })
})
