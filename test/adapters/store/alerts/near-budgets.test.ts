import { expect, it } from 'vitest'
import { keepNearBudgets, NEAR_BUDGETS_KEY, nearBudgetsOf } from '#adapters/store/alerts/near-budgets.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'

const engine = useTestTable()

const near = (tenantId: string, percent: number) => ({ tenantId, budgetId: `k${percent}`, percent })

it('keepNearBudgets lists the most spent first, at most a hundred, and writes only what has changed', async () => {
  const { table } = engine
  let writes = 0
  const counted = {
    ...table,
    updateItem: async (...parameters: Parameters<typeof table.updateItem>) => {
      writes += 1
      return await table.updateItem(...parameters)
    },
  }
  const listed = async (tenantId?: string) =>
    nearBudgetsOf(await table.readItem(NEAR_BUDGETS_KEY), tenantId).map(({ percent }) => percent)
  await keepNearBudgets(counted, [])
  expect([writes, await listed()]).toEqual([0, []])
  await keepNearBudgets(counted, [near('acme', 80), near('other', 120), near('acme', 95)])
  await keepNearBudgets(counted, [near('acme', 95), near('acme', 80), near('other', 120)])
  expect([writes, await listed(), await listed('acme')]).toEqual([1, [120, 95, 80], [95, 80]])
  await keepNearBudgets(
    counted,
    Array.from({ length: 101 }, (_, index) => near('acme', 100 + index)),
  )
  expect([(await listed()).length, (await listed()).at(-1)]).toEqual([100, 101])
  await keepNearBudgets(counted, [])
  expect(await listed()).toEqual([])
})
