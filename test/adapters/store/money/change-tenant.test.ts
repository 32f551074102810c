import { describe, expect, it } from 'vitest'
import { grantTenant } from '#adapters/store/accounts/grant-credits.ts'
import { getTenant } from '#adapters/store/accounts/tenant-store.ts'
import { readAudit } from '#adapters/store/audit/read-audit.ts'
import { changeTenant } from '#adapters/store/money/change-tenant.ts'
import type { NamedWrites } from '#adapters/store/table/table.ts'
import { parseCredits } from '#core/money.ts'
import { type TestTable, useTestTable } from '../../../engines/start-test-table.ts'
import { TESTER } from '../../../engines/tester.ts'
import { openTenant, reserveJob } from '../../../engines/video-jobs.ts'

const engine = useTestTable()

const BUDGET = { amount: parseCredits('5'), kind: 'total' } as const

describe('change-tenant', () => {
  it('changes name, limit and budget in one transaction, and again when the balance moved meanwhile', async () => {
    const tenant = await openTenant(engine.table)
    const { tenantId } = tenant
    const sent: NamedWrites[] = []
    const transact = async (writes: NamedWrites) => {
      if (sent.push(writes) === 1) {
        // A budget begins with what is granted, so a grant refuses the first try.
        await grantTenant(engine.table, tenantId, { credits: parseCredits('1'), actor: TESTER })
      }
      await engine.table.transact(writes)
    }
    const settings = { name: 'New', openJobsMax: 4, budget: BUDGET }
    const table = { ...bound(engine), transact }
    expect(await changeTenant(table, { tenantId, settings, actor: TESTER })).toEqual({ isChanged: true, isExact: true })
    expect(sent).toHaveLength(2)
    await reserveJob(engine.table, tenant)
    const changed = await getTenant(engine.table, tenantId)
    expect(changed).toMatchObject({
      name: 'New',
      openJobs: { count: 1, max: 4 },
      budget: { amount: 5_000_000n, left: 4_300_000n },
    })
    const { entries } = await readAudit(engine.table, { limit: 1, targets: [tenantId] })
    expect(entries).toMatchObject([{ action: 'tenant set', after: { name: 'New', openJobs: 4, budget: '5/total' } }])
  })

  it('removes limit and budget together', async () => {
    const { tenantId } = await openTenant(engine.table)
    const change = (settings: Parameters<typeof changeTenant>[1]['settings']) =>
      changeTenant(engine.table, { tenantId, settings, actor: TESTER })
    await change({ openJobsMax: 4, budget: BUDGET })
    await change({ openJobsMax: null, budget: null })
    expect(await getTenant(engine.table, tenantId)).toMatchObject({ openJobs: { max: null }, budget: null })
    expect(await change({ openJobsMax: null, budget: null, name: 'Test' })).toMatchObject({ isChanged: false })
  })

  it('of two names at once both are in the log, and the later one stands', async () => {
    const { tenantId } = await openTenant(engine.table)
    const rename = (name: string) => changeTenant(engine.table, { tenantId, settings: { name }, actor: TESTER })
    await Promise.all([rename('one'), rename('two')])
    const { entries } = await readAudit(engine.table, { limit: 2, targets: [tenantId] })
    expect(new Set(entries.map(({ after }) => after?.name))).toEqual(new Set(['one', 'two']))
    const stands = (await getTenant(engine.table, tenantId)).name
    expect(entries.find(({ before }) => before?.name !== 'Test')?.after).toEqual({ name: stands })
  })

  it('refuses a tenant that does not exist', async () => {
    const change = changeTenant(engine.table, { tenantId: 'nobody', settings: { name: 'a' }, actor: TESTER })
    await expect(change).rejects.toThrow('no tenant nobody')
  })
})

/** The methods of the table, which a test replaces one by one. */
function bound({ table }: TestTable) {
  return {
    readItem: table.readItem.bind(table),
    readItems: table.readItems.bind(table),
    queryPage: table.queryPage.bind(table),
    updateItem: table.updateItem.bind(table),
  }
}
