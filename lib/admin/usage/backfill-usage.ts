import { counterNameOf, countUsage } from '#adapters/store/money/usage-counters.ts'
import { ConditionsNotMetError } from '#adapters/store/table/conditions-not-met-error.ts'
import type { Table, TableWrite } from '#adapters/store/table/table.ts'
import { isCounted } from '#core/quota/usage-counter.ts'
import { type SettledRow, streamSettledRows } from '#lambdas/admin/usage/settled-rows.ts'

/** Rows of one transaction, and all of its writes: DynamoDB takes a hundred. */
const ROWS_MAX = 90
const WRITES_MAX = 100

/**
 * Counts the settlements of a tenant that carry no mark, and marks them in the same transaction: each is counted once, whatever is
 * interrupted, repeated or done at the same time.
 * @yields the number of rows that each transaction counted.
 * @throws ServiceUnavailableError when the table stays out of reach; a repeat goes on from there.
 */
export async function* backfillUsage(table: Table, tenantId: string): AsyncGenerator<number> {
  let batch: SettledRow[] = []
  const counters = new Set<string>()
  for await (const row of streamSettledRows(table, tenantId, { isCounted: false })) {
    if (!isCounted(row.settlement)) {
      continue
    }
    batch.push(row)
    counters.add(counterNameOf(row.settlement))
    // The next row may bring one more counter.
    if (batch.length === ROWS_MAX || batch.length + counters.size >= WRITES_MAX - 1) {
      yield await countRows(table, batch)
      batch = []
      counters.clear()
    }
  }
  if (batch.length > 0) {
    yield await countRows(table, batch)
  }
}

/** Counts rows, without those that were counted meanwhile. */
async function countRows(table: Table, rows: readonly SettledRow[]): Promise<number> {
  let left = rows
  while (left.length > 0) {
    const marks = Object.fromEntries(left.map((row) => [nameOf(row), mark(row)]))
    try {
      await table.transact({ ...marks, ...countUsage(left.map(({ settlement }) => settlement)) })
      return left.length
    } catch (error) {
      if (!(error instanceof ConditionsNotMetError)) {
        throw error
      }
      left = left.filter((row) => !error.failed.has(nameOf(row)))
    }
  }
  return 0
}

function nameOf({ key }: SettledRow): string {
  return `row ${key.SK}`
}

function mark({ key }: SettledRow): TableWrite {
  return {
    Update: {
      Key: key,
      UpdateExpression: 'SET counted = :true',
      ConditionExpression: 'attribute_exists(PK) AND attribute_not_exists(counted)',
      ExpressionAttributeValues: { ':true': true },
    },
  }
}
