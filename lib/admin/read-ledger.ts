import * as z from 'zod'
import { queryPartition } from '#adapters/stores/query-items.ts'
import type { Table } from '#adapters/stores/table.ts'
import { tableKeys } from '#adapters/stores/table-keys.ts'
import type { LedgerEntry } from '#core/quota/ledger-entry.ts'
import { formatCredits, type Microcredits, microcredits } from '#core/quota/money.ts'

const amount = z.union([z.number(), z.bigint()]).transform((value) => microcredits(value))

const ledgerItem = z.object({
  SK: z.string(),
  kind: z.enum(['grant', 'reserve', 'settle', 'release']),
  job: z.string().optional(),
  amount,
  actual: amount.optional(),
  at: z.number(),
})

/** One stored row; amounts in microcredits, `at` in milliseconds. */
export type LedgerRow = {
  readonly kind: LedgerEntry['kind']
  readonly job: string | null
  readonly amount: Microcredits
  readonly actual: Microcredits | null
  readonly at: number
}

/** Every row of a tenant's ledger, newest first. */
export async function readLedgerRows(table: Table, tenantId: string): Promise<LedgerRow[]> {
  const rows: (LedgerRow & { order: string })[] = []
  const { PK } = tableKeys.ledgerGrant(tenantId, '')
  for await (const item of queryPartition(table, PK)) {
    const { SK: order, job = null, actual = null, ...rest } = ledgerItem.parse(item)
    rows.push({ ...rest, job, actual, order })
  }
  return rows.toSorted((left, right) => right.at - left.at || right.order.localeCompare(left.order))
}

/** A row as the command line shows it. */
export function toLedgerEntry({ kind, job, amount: locked, actual, at }: LedgerRow): LedgerEntry {
  return {
    kind,
    job,
    amount: formatCredits(locked),
    actual: actual === null ? null : formatCredits(actual),
    at: new Date(at).toISOString(),
  }
}
