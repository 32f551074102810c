import type { Table } from '#adapters/stores/table.ts'
import { getTenant } from '#adapters/stores/tenant-store.ts'
import { type Answer, formatTable } from './answer.ts'
import { readLedgerRows, toLedgerEntry } from './read-ledger.ts'
import { UsageError } from './usage-error.ts'
import { verifyLedger } from './verify-ledger.ts'

const LIMIT_DEFAULT = 50

/** `ledger --tenant ID [--limit N]`, newest first. @throws TenantNotFoundError. */
export async function showLedger(
  table: Table,
  { tenant, limit }: { tenant: string; limit: string | undefined },
): Promise<Answer> {
  const most = limit === undefined ? LIMIT_DEFAULT : Number(limit)
  if (!Number.isInteger(most) || most < 1) {
    throw new UsageError(`--limit ${limit}: use a whole number from 1`)
  }
  await getTenant(table, tenant)
  const entries = (await readLedgerRows(table, tenant)).slice(0, most).map(toLedgerEntry)
  const rows = entries.map(({ at, kind, amount, actual, job, estimated }) => [
    at,
    kind,
    amount,
    estimated ? `${actual} (estimate)` : actual,
    job,
  ])
  return { json: { entries }, text: formatTable(['AT', 'KIND', 'AMOUNT', 'ACTUAL', 'JOB'], rows) }
}

/** `ledger verify`: every invariant of every tenant; not ok when one is broken. */
export async function verifyLedgers(table: Table): Promise<Answer> {
  const broken = await verifyLedger(table)
  const text =
    broken.length === 0
      ? 'every invariant holds'
      : broken.map(({ tenant, message }) => `${tenant}: ${message}`).join('\n')
  return { json: { ok: broken.length === 0, broken }, text, isOk: broken.length === 0 }
}
