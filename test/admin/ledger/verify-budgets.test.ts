import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { v7 as uuidv7 } from 'uuid'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseCredits } from '#core/money.ts'
import { checkKeyBudgets, checkTenantBudget } from '#lambdas/admin/ledger/verify-budgets.ts'
import { verifyLedger } from '#lambdas/admin/ledger/verify-ledger.ts'
import { leaveKeyBudget } from '#store/key-budgets.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { storeKeyBudget, storeTenantBudget } from '../../engines/budgets.ts'
import { settledJob } from '../../engines/settled-job.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import type { TableWithClient } from '../../engines/table-with-client.ts'
import { openTenant, reserveJob } from '../../engines/video-jobs.ts'

const engine = useTestTable()
let table: TableWithClient
beforeAll(async () => {
  table = engine.table
})

const BEGUN = { credits: '5', kind: 'total', atMilliseconds: 0 } as const

describe('verify-budgets: checkKeyBudgets', () => {
  const check = (id: string, { video = '0', relay = '0' } = {}) =>
    checkKeyBudgets(table, 'acme', {
      named: new Map([[id, new Set(['k1'])]]),
      reservations: [{ amount: parseCredits(video), budget: { id, kind: 'total' } }],
      holds: [{ budgets: { [id]: parseCredits(relay) } }],
    })

  it('finds a budget that holds what open jobs and requests hold in it in order', async () => {
    const { id } = await storeKeyBudget(table, uuidv7(), BEGUN)
    expect(await check(id)).toEqual([])
  })

  it('finds a held amount that no reservation explains', async () => {
    const { id } = await storeKeyBudget(table, uuidv7(), BEGUN)
    expect(await check(id, { video: '0.7', relay: '0.1' })).toEqual([
      `budget ${id} holds 0 and open reservations in it is 0.8`,
    ])
  })

  it('finds sums that are not those of the amounts', async () => {
    const id = uuidv7()
    const amounts = { amount: 10, spent: 3, held: 0, left: 8, free: 9 }
    const Item = { ...tableKeys.keyBudget(id), ...amounts, period: 'total', periodId: 'total' }
    await table.client.send(new PutCommand({ TableName: table.name, Item }))
    expect(await check(id)).toEqual([
      `budget ${id} has left 0.000008 and amount - spent - held is 0.000007`,
      `budget ${id} has free 0.000009 and amount - held is 0.00001`,
      `budget ${id} has spent 0.000003 and the sum of its usage counters is 0`,
    ])
  })

  it('finds a budget that is missing', async () => {
    expect(await check('gone')).toEqual(['budget gone is missing'])
  })
})

describe('verify-budgets: checkTenantBudget', () => {
  it('is in order without a budget', async () => {
    expect(await checkTenantBudget(table, { id: 'acme', budget: null })).toEqual([])
  })
})

describe('verify-budgets: what a budget has spent', () => {
  const NOW = Date.UTC(2026, 10, 22)
  const DAY = { credits: '5', kind: 'day', atMilliseconds: NOW } as const

  /** A tenant whose key has settled 0.5 credits, and a budget of the key that says otherwise. */
  async function settledTenant(changedAt?: number) {
    const tenant = await openTenant(table)
    const keyId = tenant.keyDigest.slice(0, 8)
    await settledJob(table, tenant, { keyId, createdAt: NOW / 1000, bill: '0.5' })
    const { id } = await storeKeyBudget(table, uuidv7(), { ...DAY, spent: '0.4' })
    if (changedAt !== undefined) {
      await table.transact({ left: leaveKeyBudget(id, changedAt) })
    }
    const named = new Map([[id, new Set([keyId])]])
    return { tenant, id, check: () => checkKeyBudgets(table, tenant.tenantId, { named, reservations: [], holds: [] }) }
  }

  it('is what the usage counters of its keys say, in its period', async () => {
    const { id, check } = await settledTenant()
    expect(await check()).toEqual([`budget ${id} has spent 0.4 and the sum of its usage counters is 0.5`])
  })

  it('is not compared while requests may count that were open when the budget began, or when a key left it', async () => {
    const HOUR = 3_600_000
    expect(await (await settledTenant(NOW - HOUR)).check()).toEqual([])
    expect(await (await settledTenant(NOW - 49 * HOUR)).check()).toHaveLength(1)
  })

  it('is what all counters of a tenant say', async () => {
    const { tenant } = await settledTenant()
    await storeTenantBudget(table, tenant.tenantId, { ...DAY, spent: '0.4' })
    const stored = await getTenant(table, tenant.tenantId)
    expect(await checkTenantBudget(table, stored)).toEqual([
      'its budget has spent 0.4 and the sum of its usage counters is 0.5',
    ])
    await storeTenantBudget(table, tenant.tenantId, { ...DAY, spent: '0.5' })
    expect(await checkTenantBudget(table, await getTenant(table, tenant.tenantId))).toEqual([])
  })
})

describe('verify-budgets: ledger verify', () => {
  it('reports budgets of a tenant and of its keys that do not match what is held', async () => {
    const tenant = await openTenant(table)
    const budget = await storeKeyBudget(table, uuidv7(), BEGUN)
    await reserveJob(table, tenant, { budget })
    expect(await verifyLedger(table, tenant.tenantId)).toEqual([])
    // Stored without the hold, as after a rollback.
    await storeTenantBudget(table, tenant.tenantId, BEGUN)
    await storeKeyBudget(table, budget.id, BEGUN)
    expect((await verifyLedger(table, tenant.tenantId)).map(({ message }) => message)).toEqual([
      'its budget has left 5 and amount - spent - held is 4.3',
      'its budget has free 5 and amount - held is 4.3',
      `budget ${budget.id} holds 0 and open reservations in it is 0.7`,
    ])
  })
})
