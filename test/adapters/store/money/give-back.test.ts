import { beforeEach, describe, expect, it } from 'vitest'
import { giveBack, giveBackToKey } from '#adapters/store/money/give-back.ts'
import { RelayLedger } from '#adapters/store/money/relay-ledger.ts'
import { parseCredits } from '#core/money.ts'
import { keyBudgetOf, storeKeyBudget, storeTenantBudget, tenantBudgetOf } from '../../../engines/budgets.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'
import { openRelayingTenant, type RelayingTenant } from '../accounts/relaying-tenant.ts'

const EVE = Date.UTC(2026, 10, 30, 23, 59, 59)
const DAY = { credits: '5', kind: 'day', atMilliseconds: EVE } as const
const TWO = parseCredits('2')

const engine = useTestTable()
let table: TableWithClient
let tenant: RelayingTenant
beforeEach(async () => {
  table = await engine.fresh()
  tenant = await openRelayingTenant(table, '10')
})

/** Two credits are held, in both budgets. */
async function hold() {
  await storeTenantBudget(table, tenant.tenantId, DAY)
  const budget = await storeKeyBudget(table, 'b', DAY)
  const clock = { nowMilliseconds: () => EVE, pause: async () => undefined }
  await new RelayLedger(table, { clock }).reserve(tenant.request('2', { budget, reservedAt: EVE }))
}

describe('giveBack', () => {
  it('moves what was held back to what is available, in the budget too', async () => {
    await hold()
    const balance = await giveBack(table, { tenantId: tenant.tenantId, amount: TWO, nowMilliseconds: EVE })
    await table.transact({ balance })
    expect(await tenant.balance()).toEqual(['10', '0', '0'])
    expect(await tenantBudgetOf(table, tenant.tenantId)).toEqual(['2026-11-30', '0', '0', '5', '5'])
    await expect(table.transact({ balance })).rejects.toMatchObject({ failed: new Set(['balance']) })
  })

  it('begins the period of its time', async () => {
    await hold()
    const balance = await giveBack(table, { tenantId: tenant.tenantId, amount: TWO, nowMilliseconds: EVE + 1_000 })
    await table.transact({ balance })
    expect(await tenantBudgetOf(table, tenant.tenantId)).toEqual(['2026-12-01', '0', '0', '5', '5'])
  })
})

describe('giveBackToKey', () => {
  it('gives the budget of a key back what was held', async () => {
    await hold()
    const budget = await giveBackToKey(table, 'b', { amount: TWO, nowMilliseconds: EVE + 1_000 })
    await table.transact({ budget })
    expect(await keyBudgetOf(table, 'b')).toEqual(['2026-12-01', '0', '0', '5', '5'])
  })

  it('has nothing to write for a budget that is gone', async () => {
    expect(await giveBackToKey(table, 'gone', { amount: TWO, nowMilliseconds: EVE })).toBeUndefined()
  })
})
