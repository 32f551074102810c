import type { Table } from '#adapters/store/table/table.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import type { LedgerEntry } from '#core/pricing/usage.ts'
import { readLedgerItem, toLedgerEntry } from '#lambdas/admin/ledger/read-ledger.ts'

type JobKey = { readonly tenantId: string; readonly jobId: string }

/** The ledger entries of one job, oldest first: one, or two if the job has ended. */
export async function readJobLedger(table: Table, { tenantId, jobId }: JobKey): Promise<LedgerEntry[]> {
  const keys = [tableKeys.ledgerReserve(tenantId, jobId), tableKeys.ledgerResolution(tenantId, jobId)]
  const items = await table.readItems(keys)
  return items.flatMap((item) => (item === undefined ? [] : readLedgerItem(item))).map(toLedgerEntry)
}
