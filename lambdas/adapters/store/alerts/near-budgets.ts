import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod/mini'
import type { NearBudget } from '#core/admin/summary.ts'
import type { Item } from '../table/item-codec.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

/** More is no list for a person, and would not fit into a few kilobytes. */
const BUDGETS_MAX = 100

const nearItem = z.object({
  near: z.array(z.object({ tenantId: z.string(), budgetId: z.string(), percent: z.number() })),
})

/** The key of the item that lists the budgets of keys which need a person. */
export const NEAR_BUDGETS_KEY = tableKeys.summary('BUDGETS')

/** The listed budgets, of one tenant or of all. */
export function nearBudgetsOf(item: Item | undefined, tenantId?: string): readonly NearBudget[] {
  const near = item === undefined ? [] : nearItem.parse(item).near
  return near.filter((budget) => tenantId === undefined || budget.tenantId === tenantId)
}

/** Lists these budgets, the most spent first, at most a hundred. Writes nothing if they are listed already. */
export async function keepNearBudgets(
  table: Pick<Table, 'readItem' | 'updateItem'>,
  near: readonly NearBudget[],
): Promise<void> {
  const listed = near.toSorted((left, right) => right.percent - left.percent).slice(0, BUDGETS_MAX)
  if (isDeepStrictEqual(nearBudgetsOf(await table.readItem(NEAR_BUDGETS_KEY)), listed)) {
    return
  }
  await table.updateItem({
    Key: NEAR_BUDGETS_KEY,
    UpdateExpression: 'SET near = :near',
    ExpressionAttributeValues: { ':near': listed },
  })
}
