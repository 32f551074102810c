import { getTenant } from '#adapters/store/accounts/tenant-store.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { type Answer, formatTable } from '../command-line/answer.ts'
import type { Command } from '../command-line/command.ts'
import { readLedgerRows, toLedgerEntry } from './read-ledger.ts'
import { verifyLedger } from './verify-ledger.ts'

const LIMIT_DEFAULT = 50

/** The entries of a tenant, newest first. */
export const ledgerShow: Command = {
  name: 'ledger',
  summary: 'show the money of a tenant, newest entry first',
  options: {
    tenant: { value: 'ID', summary: 'the tenant', required: true },
    limit: { value: 'N', summary: `entries at most; ${LIMIT_DEFAULT} unless said` },
  },
  examples: ['ledger --tenant demo --local', 'ledger --tenant demo --limit 1 --json'],
  async run(context, values) {
    const wish = { tenant: values.required('tenant'), limit: values.count('limit') }
    return showLedger(await context.table(), wish)
  },
}

/** Every invariant of every tenant's money. */
export const ledgerVerify: Command = {
  name: 'ledger verify',
  summary: 'check every invariant of the money of every tenant; exit code 1 and what is broken, if any',
  details: `Sums: the balance is what was granted, locked and billed. Each job: its status, its reservation and its rows agree, in kind
and in every amount. Each relayed request: open, or resolved once. It reads everything and corrects nothing.`,
  options: { tenant: { value: 'ID', summary: 'only that of this tenant' } },
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

/** Every invariant of every tenant; not ok when one is broken. */
export async function verifyLedgers(table: Table, only?: string): Promise<Answer> {
  const broken = await verifyLedger(table, only)
  const text =
    broken.length === 0
      ? 'every invariant holds'
      : broken.map(({ tenant, message }) => `${tenant}: ${message}`).join('\n')
  return { json: { ok: broken.length === 0, broken }, text, isOk: broken.length === 0 }
}
