import { describe, expect, it } from 'vitest'
import { watchedItems } from '#adapters/store/alerts/watched-item.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import { openTenant } from '../../../engines/video-jobs.ts'
import { collect, putKeyBudget, watchBalance } from '../../../engines/watched-items.ts'

const engine = useTestTable()

describe('watched-item', () => {
  it('reads budgets of keys, and balances with a budget or a low mark, in batches of a hundred', async () => {
    const { table } = engine
    const { tenantId } = await openTenant(table, '7')
    await openTenant(table)
    await watchBalance(table, tenantId, { lowBalance: '5', budget: { spent: '1', periodId: '2026-11-22' } })
    for (let index = 0; index < 120; index += 1) {
      await putKeyBudget(table, tenantId, `k${index}`, { spent: '2', period: 'month', periodId: '2026-11' })
    }
    const batches = await collect(watchedItems(table))
    expect(batches.map(({ length }) => length)).toEqual([100, 21])
    expect(batches.flat()).toContainEqual({
      of: 'key',
      tenantId,
      budgetId: 'k7',
      budget: expect.objectContaining({
        amount: 10_000_000n,
        period: { kind: 'month', id: '2026-11' },
        spent: 2_000_000n,
      }),
    })
    expect(batches.flat()).toContainEqual({
      of: 'tenant',
      tenantId,
      available: 7_000_000n,
      held: 0n,
      lowBalance: 5_000_000n,
      budget: expect.objectContaining({ spent: 1_000_000n, period: { kind: 'day', id: '2026-11-22' } }),
    })
  })
})
