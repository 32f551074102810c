import type { Guard } from './guards.ts'
import type { SimulatedTable } from './simulated-table.ts'

/** Balances and channel counts: they move with every job and have no guard of their own. */
const COUNTER_SORT_KEY = '0'

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
      const key = String(item.Put?.Item?.SK ?? item.Update?.Key?.SK)
      if (key !== COUNTER_SORT_KEY && (await table.takes(item, missing))) {
        taken.push(`the part ${key} of a resolution was taken a second time`)
      }
    }
  }
  return taken
}
