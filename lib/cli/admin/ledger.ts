import * as z from 'zod'
import { amountField, isoTimeField, pageFields, usageCounts } from '#core/admin/read-responses.ts'
import type { LedgerEntry, UsageView } from '#core/pricing/usage.ts'
import { LEDGER_KINDS } from '#core/pricing/usage.ts'
import { printableJson } from '#core/redaction.ts'
import { listLedger, verifyLedger } from '#lambdas/admin/ledger.ts'
import { readLedgerRows, streamLedgerRows, toLedgerEntry } from '#lambdas/admin/read-ledger.ts'
import type { BrokenInvariant } from '#lambdas/admin/verify-ledger.ts'
import type { Table } from '#store/table/table.ts'
import { getTenant, listTenantIds } from '#store/tenants/tenants.ts'
import { csvLine, formatTable, type Output } from '../output.ts'
import { UsageError } from '../terminal.ts'
import type { AdminContext, Command, CommandValues } from './command.ts'
import { documentOperation } from './document.ts'
import { commandOf } from './operation-command.ts'
import { findTenantId, PERIOD, readPeriod, readTenantId, readTenantIdIfGiven, TENANT } from './read-options.ts'

/** A row of the ledger. Fields that a row does not have are left out. */
const entry = z.strictObject({
  kind: z.enum(LEDGER_KINDS),
  job: z.string().nullable().describe('The job or request; null for a grant or a correction.'),
  amount: amountField.describe('Granted or reserved; added or, below zero, taken by a correction.'),
  actual: amountField.nullable().describe('What a settlement billed; null for every other kind.'),
  at: isoTimeField.describe('When the row was written.'),
  reserved_at: isoTimeField
    .exactOptional()
    .describe('When a relayed request began, whose one row stands for its reservation, too.'),
  estimated: z.literal(true).exactOptional().describe('Billed without reported usage.'),
  model: z.string().exactOptional(),
  operation: z.string().exactOptional(),
  key: z.string().exactOptional().describe('Public id of the API key.'),
  key_name: z.string().nullable().exactOptional().describe('With `key`: its name; null for a key without one.'),
  channel: z.string().exactOptional().describe('What served a settled job or request. For owners and viewers.'),
  usage: usageCounts.exactOptional(),
  counted: z.literal(true).exactOptional().describe('A usage counter includes the settlement.'),
  id: z.string().exactOptional().describe('Of a grant or a correction, as the operator gave it.'),
  reason: z.string().exactOptional().describe('Why an operator moved credits. Not for tenants.'),
})

/** The operations of the ledger, as people read about them. */
export const LEDGER_DOCUMENTS = {
  listLedger: documentOperation(listLedger, {
    summary: 'list the ledger of a tenant',
    description: 'In the order in which jobs and requests began. A relayed request has one row, written when it ends.',
    returns: 'Rows, newest first.',
    output: z.strictObject({
      entries: z.array(entry),
      ...pageFields,
      left_out: z
        .string()
        .nullable()
        .describe('What the list leaves out, and the command that shows it; null if it is complete.'),
    }),
  }),
  verifyLedger: documentOperation(verifyLedger, {
    summary: 'check every invariant of the money of a tenant',
    description: 'Reads the whole tenant. A tenant that is too large is a 400 that names the command.',
    returns: 'The result.',
    output: z.strictObject({
      ok: z.boolean(),
      broken: z.array(
        z.strictObject({ tenant: z.string(), message: z.string().describe('A sentence about a broken rule.') }),
      ),
      as_of: isoTimeField.describe('When the tenant was checked.'),
    }),
  }),
}

/** The part of the responses that has a name of its own in `admin-openapi.json`. */
export const LEDGER_SCHEMAS = { LedgerEntry: entry }

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

/** What broken invariants are, or that there are none. */
export function verificationText(broken: readonly BrokenInvariant[]): string {
  return broken.length === 0
    ? 'every invariant holds'
    : broken.map(({ tenant, message }) => `${tenant}: ${message}`).join('\n')
}

/** Checks every invariant of every tenant's money. */
export const ledgerVerify: Command = commandOf(LEDGER_DOCUMENTS.verifyLedger, {
  name: 'ledger verify',
  summary: 'check every invariant of the money of every tenant; exit code 1 if one is broken',
  details: `Sums: the balance matches all grants, adjustments, reservations and settlements. Jobs: status, reservation and ledger rows agree in kind and amount.
Relayed requests: open, or resolved once. Usage counters: the sums of the settlements that are marked as counted. Budgets: their counters, and what is held in them. The command reads everything and corrects nothing.`,
  options: { tenant: { value: 'ID|NAME', summary: 'only this tenant', find: findTenantId } },
  examples: ['ledger verify --stage prod', 'ledger verify --local --json', 'ledger verify --tenant demo --local'],
  format: ({ broken }) => verificationText(broken),
  isOk: ({ ok }) => ok,
})

/** The newest entries of a tenant, by its id. */
export async function showLedger(
  table: Table,
  { tenant, limit = LIMIT_DEFAULT }: { tenant: string; limit: number | undefined },
): Promise<Output> {
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
    ...PERIOD,
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
const WRITTEN: Output = { json: undefined, text: '' }

type Wish = { readonly from: number; readonly to: number }

function readWish(values: CommandValues): Wish {
  if (values.has('tenant') === values.has('all')) {
    throw new UsageError('use --tenant or --all')
  }
  return { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY, ...readPeriod(values) }
}

type Export = Wish & { readonly output: Chunks; readonly asJson: boolean }

async function exportTenant(table: Table, tenantId: string, { from, to, output, asJson }: Export): Promise<void> {
  const { name } = await getTenant(table, tenantId)
  for await (const row of streamLedgerRows(table, tenantId)) {
    if (row.at >= from && row.at < to) {
      const about = { tenant: tenantId, tenant_name: name }
      const entry = toLedgerEntry(row)
      await output.add(
        asJson ? `${printableJson({ ...about, ...jsonFields(entry) })}\n` : csvLine(csvCells(about, entry)),
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
function csvCells(about: Readonly<Record<string, string>>, entry: LedgerEntry): string[] {
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
