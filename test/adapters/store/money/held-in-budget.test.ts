import { beforeAll, describe, expect, it } from 'vitest'
import { heldInBudget } from '#adapters/store/money/held-in-budget.ts'
import { RelayLedger } from '#adapters/store/money/relay-ledger.ts'
import { formatCredits } from '#core/money.ts'
import { storeKeyBudget } from '../../../engines/budgets.ts'
import { settledJob } from '../../../engines/settled-job.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'
import { useOpened } from '../../../engines/use-opened.ts'
import { openTenant, reserveJob } from '../../../engines/video-jobs.ts'
import { openRelayingTenant } from '../accounts/relaying-tenant.ts'
import { startRelayTable } from './relay-table.ts'

const engine = useOpened(startRelayTable)
let table: TableWithClient
beforeAll(async () => {
  table = (await engine.fresh()).table
})

const TOTAL = { credits: '5', kind: 'total', atMilliseconds: 0 } as const

describe('heldInBudget', () => {
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
