import { getTenant, listTenantIds } from '#adapters/store/accounts/tenant-store.ts'
import type { Table } from '#adapters/store/table/table.ts'
import type { LedgerEntry } from '#core/pricing/usage.ts'
import { printableJson } from '#core/redaction.ts'
import { streamLedgerRows, toLedgerEntry } from '#lambdas/admin/ledger/read-ledger.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import type { Answer } from '../command-line/answer.ts'
import type { AdminContext, Command } from '../command-line/command.ts'
import type { CommandValues } from '../command-line/command-values.ts'
import { readTime } from '../command-line/read-time.ts'
import { readTenantIdIfGiven } from '../tenants/read-tenant.ts'
import { csvLine } from './csv.ts'

/** The order never changes; new columns come last. */
const COLUMNS = [
  'tenant',
  'tenant_name',
  'at',
  'kind',
  'job',
  'amount',
  'actual',
  'estimated',
  'model',
  'operation',
  'key',
  'channel',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'video_seconds',
  'images',
  'counted',
  'id',
  'reason',
]

/** Lines are joined up to this many characters per write. */
const CHUNK_CHARACTERS = 65_536

/** Exports the ledger of one tenant or of all tenants as CSV. */
export const ledgerExport: Command = {
  name: 'ledger export',
  summary: 'write the ledger of one tenant or of all tenants as CSV to stdout',
  details: `Columns: ${COLUMNS.join(', ')}. Amounts are exact decimals in credits. Rows come in the order of jobs and
requests, grants and adjustments together; sort by \`at\`. Memory stays small for any ledger, but every row is read. With
--json each row is a line of JSON. An apostrophe stands before what a spreadsheet would run as a formula. \`counted\`: usage
counters include the settlement. \`id\`: of a grant or an adjustment. \`reason\`: why an adjustment was made.`,
  options: {
    tenant: { value: 'ID|NAME', summary: 'the tenant; or --all' },
    all: { summary: 'every tenant' },
    from: { value: 'DATE', summary: 'entries at or after this, such as 2026-11-01 (UTC) or 2026-11-01T00:00:00Z' },
    to: { value: 'DATE', summary: 'entries before this' },
  },
  examples: [
    'ledger export --tenant demo --local > ledger.csv',
    'ledger export --all --from 2026-11-01 --to 2026-12-01 --stage prod > november.csv',
  ],
  async run(context, values) {
    const wish = readWish(values)
    const table = await context.table()
    const tenant = await readTenantIdIfGiven(context, values)
    const tenants = tenant === undefined ? await listTenantIds(table) : [tenant]
    const output = new Chunks(context)
    if (!context.json) {
      await output.add(csvLine(COLUMNS))
    }
    for (const tenantId of tenants) {
      await exportTenant(table, tenantId, { ...wish, output, asJson: context.json })
    }
    await output.flush()
    return WRITTEN
  },
}

/** All output has been written already. */
const WRITTEN: Answer = { json: undefined, text: '' }

type Wish = { readonly from: number; readonly to: number }

function readWish(values: CommandValues): Wish {
  const [from, to] = ['from', 'to'].map((name) => values.text(name))
  if (values.has('tenant') === values.has('all')) {
    throw new UsageError('use --tenant or --all')
  }
  return {
    from: from === undefined ? Number.NEGATIVE_INFINITY : readTime('from', from),
    to: to === undefined ? Number.POSITIVE_INFINITY : readTime('to', to),
  }
}

type Export = Wish & { readonly output: Chunks; readonly asJson: boolean }

async function exportTenant(table: Table, tenantId: string, { from, to, output, asJson }: Export): Promise<void> {
  const { name } = await getTenant(table, tenantId)
  for await (const row of streamLedgerRows(table, tenantId)) {
    if (row.at >= from && row.at < to) {
      const about = { tenant: tenantId, tenant_name: name }
      const entry = toLedgerEntry(row)
      await output.add(
        asJson ? `${printableJson({ ...about, ...jsonFields(entry) })}\n` : csvLine(cellsOf(about, entry)),
      )
    }
  }
}

/** Every field, whether it is known or not. */
function jsonFields({ at, kind, job, amount, actual, ...known }: LedgerEntry) {
  return {
    at,
    kind,
    job,
    amount,
    actual,
    estimated: known.estimated === true,
    model: known.model ?? null,
    operation: known.operation ?? null,
    key: known.key ?? null,
    channel: known.channel ?? null,
    usage: known.usage ?? null,
    counted: known.counted === true,
    id: known.id ?? null,
    reason: known.reason ?? null,
  }
}

/** A cell for each column; empty for what is false or not known. */
function cellsOf(about: Readonly<Record<string, string>>, entry: LedgerEntry): string[] {
  const { usage, ...fields } = entry
  const values: Readonly<Record<string, string | number | boolean | null | undefined>> = {
    ...about,
    ...fields,
    ...usage,
  }
  return COLUMNS.map((column) => String(values[column] ?? ''))
}

/** Joins lines into larger writes. */
class Chunks {
  readonly #context: Pick<AdminContext, 'write'>
  #text = ''

  constructor(context: Pick<AdminContext, 'write'>) {
    this.#context = context
  }

  async add(line: string): Promise<void> {
    this.#text += line
    if (this.#text.length >= CHUNK_CHARACTERS) {
      await this.flush()
    }
  }

  async flush(): Promise<void> {
    const text = this.#text
    this.#text = ''
    await this.#context.write(text)
  }
}
