import { formatCredits, type Microcredits } from '#core/money.ts'
import {
  addUsageSums,
  counterIdOf,
  counterOfSettlement,
  NO_USAGE,
  sumsOfSettlement,
  type UsageSums,
} from '#core/pricing/usage.ts'
import { streamSettledRows } from '#lambdas/admin/usage/settled-rows.ts'
import type { Table } from '#store/table/table.ts'
import { streamUsageCounters } from '#store/usage.ts'

/**
 * Each usage counter is the sum of the settlements that carry the mark `counted`, in every number. Counters are read before and after
 * the rows, and one that moved meanwhile is left out. Memory grows with the number of counters, not of rows.
 */
export async function checkCounters(table: Table, tenantId: string): Promise<string[]> {
  const before = new Map<string, UsageSums>()
  for await (const counter of streamUsageCounters(table, tenantId)) {
    before.set(counterIdOf(counter), counter)
  }
  const expected = new Map<string, UsageSums>()
  for await (const { settlement } of streamSettledRows(table, tenantId)) {
    const id = counterOfSettlement(settlement)
    expected.set(id, addUsageSums(expected.get(id) ?? NO_USAGE, sumsOfSettlement(settlement)))
  }
  const broken: string[] = []
  for await (const counter of streamUsageCounters(table, tenantId)) {
    const id = counterIdOf(counter)
    if (isStill(before.get(id), counter)) {
      broken.push(...compare(id, counter, expected.get(id) ?? NO_USAGE))
    }
    expected.delete(id)
  }
  return [...broken, ...[...expected].flatMap(([id, sums]) => compare(id, NO_USAGE, sums))]
}

/** Every settlement that counts raises the number of requests. */
function isStill(before: UsageSums | undefined, after: UsageSums): boolean {
  return before?.requests === after.requests
}

const NUMBERS = [
  'requests',
  'inputTokens',
  'cachedInputTokens',
  'cacheWriteTokens',
  'outputTokens',
  'videoMilliseconds',
  'images',
] as const satisfies readonly (keyof UsageSums)[]

function compare(id: string, counter: UsageSums, rows: UsageSums): string[] {
  const differences = NUMBERS.flatMap((name) => {
    const difference = counter[name] - rows[name]
    return difference === 0 ? [] : [`${name} by ${difference}`]
  })
  const cost = counter.cost - rows.cost
  const all = cost === 0n ? differences : [...differences, `cost by ${formatCredits(cost as Microcredits)}`]
  return all.length === 0 ? [] : [`the usage counter ${id} differs from its settlements: ${all.join(', ')}`]
}
