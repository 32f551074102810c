import type { Guard } from './guards.ts'
import type { SimulatedTable, Written } from './simulated-table.ts'

/**
 * Whether a part of a resolution has a guard of its own. Balances, budgets, usage counters and channel counts move with
 * every job and have none, and a transaction of relayed requests may open reservations beside those that it closes.
 */
function isGuarded({ Put, Update, Delete }: Written['items'][number]): boolean {
  const counterSortKey = '0'
  const usagePartition = 'U#'
  const isCounter = Update?.Key?.SK === counterSortKey || String(Update?.Key?.PK).startsWith(usagePartition)
  const isRow = String(Put?.Item?.SK).endsWith('#2')
  return isRow || Delete !== undefined || (Update !== undefined && !isCounter)
}

/**
 * A resolution stands behind three guards, and no fault gets past one while the others stand. So each is tried alone:
 * every part of a resolution that was carried out is sent once more by itself, and the table must refuse it.
 * @returns the parts that it took, in words.
 */
export async function probeGuards(table: SimulatedTable, missing: readonly Guard[]): Promise<string[]> {
  const taken: string[] = []
  for (const { items } of table.transactions) {
    const isResolution = items.some((item) => String(item.Put?.Item?.SK).endsWith('#2'))
    for (const item of isResolution ? items : []) {
      const key = String((item.Put?.Item ?? (item.Update ?? item.Delete)?.Key)?.SK)
      if (isGuarded(item) && (await table.takes(item, missing))) {
        taken.push(`the part ${key} of a resolution was taken a second time`)
      }
    }
  }
  return taken
}
