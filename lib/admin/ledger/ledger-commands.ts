import type { Table } from '#adapters/store/table/table.ts'
import type { LedgerEntry, UsageView } from '#core/pricing/usage.ts'
import { readLedgerRows, toLedgerEntry } from '#lambdas/admin/ledger/read-ledger.ts'
import { verifyLedger } from '#lambdas/admin/ledger/verify-ledger.ts'
import { type Answer, formatTable } from '../command-line/answer.ts'
import type { Command } from '../command-line/command.ts'
import { readTenantId, readTenantIdIfGiven, TENANT } from '../tenants/read-tenant.ts'

const LIMIT_DEFAULT = 50

/** Shows the ledger entries of a tenant, newest first. */
export const ledgerShow: Command = {
  name: 'ledger',
  summary: 'show the ledger of a tenant, newest entry first',
  options: {
    tenant: TENANT,
    limit: { value: 'N', summary: `maximum number of entries; default: ${LIMIT_DEFAULT}` },
  },
  examples: ['ledger --tenant demo --local', 'ledger --tenant demo --limit 1 --json'],
  async run(context, values) {
    const wish = { tenant: await readTenantId(context, values), limit: values.count('limit') }
    return showLedger(await context.table(), wish)
  },
}

/** Checks every invariant of every tenant's money. */
export const ledgerVerify: Command = {
  name: 'ledger verify',
  summary: 'check every invariant of the money of every tenant; exit code 1 if one is broken',
  details: `Sums: the balance matches all grants, adjustments, reservations and settlements. Jobs: status, reservation and ledger rows agree in kind and amount.
Relayed requests: open, or resolved once. Usage counters: the sums of the settlements that are marked as counted. The command reads everything and corrects nothing.`,
  options: { tenant: { value: 'ID|NAME', summary: 'only this tenant' } },
  examples: ['ledger verify --stage prod', 'ledger verify --local --json', 'ledger verify --tenant demo --local'],
  async run(context, values) {
    return verifyLedgers(await context.table(), await readTenantIdIfGiven(context, values))
  },
}

/** The newest entries of a tenant, by its id. */
export async function showLedger(
  table: Table,
  { tenant, limit = LIMIT_DEFAULT }: { tenant: string; limit: number | undefined },
): Promise<Answer> {
  const entries = (await readLedgerRows(table, tenant)).slice(0, limit).map(toLedgerEntry)
  return { json: { entries }, text: formatTable(...withoutEmptyColumns(entries.map(cellsOf))) }
}

/** Columns of an entry; the last ones are left out if no entry has them. */
const HEADER = ['AT', 'KIND', 'AMOUNT', 'ACTUAL', 'JOB', 'MODEL', 'KEY', 'CHANNEL', 'USAGE', 'ID', 'REASON']
const COLUMNS_ALWAYS = 5

type Cells = readonly (string | null)[]

function cellsOf({ at, kind, amount, actual, job, estimated, usage, ...rest }: LedgerEntry): Cells {
  const { model = null, key = null, channel = null, id = null, reason = null } = rest
  const billed = estimated ? `${actual} (estimate)` : actual
  return [at, kind, amount, billed, job, model, key, channel, describeUsage(usage), id, reason]
}

/** Such as `1200 in, 310 out` or `5.04 s`; null without usage. */
function describeUsage(usage: UsageView | undefined): string | null {
  const parts = USAGE_PARTS.flatMap(([name, unit]) => {
    const count = usage?.[name] ?? 0
    return count === 0 ? [] : [`${count} ${unit}${unit === 'image' && count > 1 ? 's' : ''}`]
  })
  return parts.length === 0 ? null : parts.join(', ')
}

const USAGE_PARTS = [
  ['input_tokens', 'in'],
  ['cached_input_tokens', 'cached'],
  ['cache_write_tokens', 'written'],
  ['output_tokens', 'out'],
  ['video_seconds', 's'],
  ['images', 'image'],
] as const satisfies readonly (readonly [keyof UsageView, string])[]

function withoutEmptyColumns(rows: readonly Cells[]): [string[], Cells[]] {
  const isShown = HEADER.map((_, column) => column < COLUMNS_ALWAYS || rows.some((row) => row[column] !== null))
  return [HEADER.filter((_, column) => isShown[column]), rows.map((row) => row.filter((_, column) => isShown[column]))]
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
