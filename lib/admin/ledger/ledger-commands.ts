import { getTenant } from '#adapters/store/accounts/tenant-store.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { type Answer, formatTable } from '../command-line/answer.ts'
import type { Command } from '../command-line/command.ts'
import { readLedgerRows, toLedgerEntry } from './read-ledger.ts'
import { verifyLedger } from './verify-ledger.ts'

const LIMIT_DEFAULT = 50

/** Shows the ledger entries of a tenant, newest first. */
export const ledgerShow: Command = {
  name: 'ledger',
  summary: 'show the ledger of a tenant, newest entry first',
  options: {
    tenant: { value: 'ID', summary: 'the tenant', required: true },
    limit: { value: 'N', summary: `maximum number of entries; default: ${LIMIT_DEFAULT}` },
  },
  examples: ['ledger --tenant demo --local', 'ledger --tenant demo --limit 1 --json'],
  async run(context, values) {
    const wish = { tenant: values.required('tenant'), limit: values.count('limit') }
    return showLedger(await context.table(), wish)
  },
}

/** Checks every invariant of every tenant's money. */
export const ledgerVerify: Command = {
  name: 'ledger verify',
  summary: 'check every invariant of the money of every tenant; exit code 1 if one is broken',
  details: `Sums: the balance matches all grants, reservations and settlements. Jobs: status, reservation and ledger rows agree in kind and amount.
Relayed requests: open, or resolved once. The command reads everything and corrects nothing.`,
  options: { tenant: { value: 'ID', summary: 'only this tenant' } },
  examples: ['ledger verify --stage prod', 'ledger verify --local --json', 'ledger verify --tenant demo --local'],
  async run(context, values) {
    const tenant = values.text('tenant')
    const table = await context.table()
    if (tenant !== undefined) {
      await getTenant(table, tenant)
    }
    return verifyLedgers(table, tenant)
  },
}

/** @throws TenantNotFoundError. */
export async function showLedger(
  table: Table,
  { tenant, limit = LIMIT_DEFAULT }: { tenant: string; limit: number | undefined },
): Promise<Answer> {
  await getTenant(table, tenant)
  const entries = (await readLedgerRows(table, tenant)).slice(0, limit).map(toLedgerEntry)
  const rows = entries.map(({ at, kind, amount, actual, job, estimated }) => [
    at,
    kind,
    amount,
    estimated ? `${actual} (estimate)` : actual,
    job,
  ])
  return { json: { entries }, text: formatTable(['AT', 'KIND', 'AMOUNT', 'ACTUAL', 'JOB'], rows) }
}

/** Reports the broken invariants; not ok if there are any. */
export async function verifyLedgers(table: Table, only?: string): Promise<Answer> {
  const broken = await verifyLedger(table, only)
  const text =
    broken.length === 0
      ? 'every invariant holds'
      : broken.map(({ tenant, message }) => `${tenant}: ${message}`).join('\n')
  return { json: { ok: broken.length === 0, broken }, text, isOk: broken.length === 0 }
}
