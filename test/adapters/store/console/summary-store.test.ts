import { expect, it } from 'vitest'
import { readSummary, writeSummary } from '#adapters/store/console/summary-store.ts'
import type { SummarizedTenant } from '#core/admin/summary.ts'
import { microcredits } from '#core/money.ts'
import { startTestTable } from '../../../engines/start-test-table.ts'

it('writeSummary keeps 6,000 tenants in items below the limit of the table, and writes those items alone that changed', async () => {
  const engine = await startTestTable()
  const tenants = Array.from({ length: 6_000 }, (_, index): SummarizedTenant => {
    const amount = microcredits(index * 7_919)
    return {
      ...{ id: crypto.randomUUID(), name: `Tenant ${index}`, state: 'active', suspendedReason: null, createdAt: index },
      balance: { available: amount, held: amount, spent: amount, granted: amount },
      ...{ openJobs: { count: index, max: null }, budget: null, lowBalance: null, countedSpent: amount },
    }
  })
  try {
    await writeSummary(engine.table, { asOf: 17, tenants, days: new Map() }, undefined)
    expect(await readSummary(engine.table)).toEqual({ asOf: 17, tenants, days: new Map() })
    const written: unknown[] = []
    const updateItem: typeof engine.table.updateItem = (update) => {
      written.push(update.Key.SK)
      return engine.table.updateItem(update)
    }
    const previous = { asOf: 17, tenants, days: new Map() }
    const moved = tenants.map((tenant, index) => (index === 2_500 ? { ...tenant, name: 'Moved' } : tenant))
    await writeSummary(
      { updateItem },
      { asOf: 18, tenants: tenants.map((tenant) => ({ ...tenant })), days: new Map() },
      previous,
    )
    await writeSummary({ updateItem }, { asOf: 19, tenants: moved, days: new Map() }, previous)
    expect(written).toEqual(['HEAD', 'TENANTS#001', 'HEAD'])
  } finally {
    await engine.close()
  }
})
