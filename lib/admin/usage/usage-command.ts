import { listApiKeys } from '#adapters/store/accounts/api-key-listing.ts'
import { listTenantNames } from '#adapters/store/accounts/tenant-store.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { readDimensions, USAGE_DIMENSIONS, usageSumsView } from '#core/api/usage.ts'
import { addUsageSums, dayOf, daysBefore, isDay, NO_USAGE } from '#core/pricing/usage.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import type { Answer } from '../command-line/answer.ts'
import type { AdminContext, Command } from '../command-line/command.ts'
import type { CommandValues } from '../command-line/command-values.ts'
import { findTenant } from '../tenants/read-tenant.ts'
import { readUsage, type TenantUsage, type UsageWish } from './read-usage.ts'
import { USAGE_CSV_COLUMNS, usageCsvHeader, usageCsvLine } from './usage-csv.ts'
import { type UsageRow, usageRows } from './usage-row.ts'
import { usageTable } from './usage-table.ts'

/** Days without `--from`. */
const DAYS_DEFAULT = 30

/** Shows what tenants used and what it cost. */
export const usage: Command = {
  name: 'usage',
  summary: 'show what tenants used and what it cost, with a bar for each cost on a terminal',
  details: `Sums over settled requests and jobs: exactly the amounts in the ledger, by the day of the settlement (UTC). One query per tenant
reads them, however many requests there were. Columns of --csv: ${USAGE_CSV_COLUMNS}.`,
  options: {
    tenant: { value: 'ID|NAME', summary: 'only this tenant' },
    by: {
      value: 'A,B',
      summary: `some of ${USAGE_DIMENSIONS.join(', ')}, each once, separated by commas; default: model`,
    },
    from: { value: 'DAY', summary: `first day, such as 2026-11-01; default: ${DAYS_DEFAULT - 1} days before --to` },
    to: { value: 'DAY', summary: 'last day; default: today' },
    csv: { summary: 'write CSV' },
  },
  examples: [
    'usage --local',
    'usage --by day,model --tenant demo --from 2026-11-01 --to 2026-11-30 --local',
    'usage --by day,model,key,operation --csv --stage prod > usage.csv',
  ],
  async run(context, values) {
    const wish = readWish(values)
    const table = await context.table()
    const wanted = values.text('tenant')
    const tenants = wanted === undefined ? await listTenantNames(table) : [await findTenant(table, wanted)]
    const keyNames = wish.by.includes('key') ? await readKeyNames(table) : new Map<string, string>()
    const toRows = (used: TenantUsage) => usageRows(used, wish.by, keyNames)
    if (values.has('csv')) {
      return await writeCsv(context, readUsage(table, tenants, wish), toRows)
    }
    const rows: UsageRow[] = []
    for await (const used of readUsage(table, tenants, wish)) {
      rows.push(...toRows(used))
    }
    return describe(sortRows(rows, wish), wish, context.columns)
  },
}

function readWish(values: CommandValues): UsageWish {
  const by = readDimensions(values.text('by') ?? 'model')
  if (by === undefined) {
    throw new UsageError(`--by: use some of ${USAGE_DIMENSIONS.join(', ')}, each once, separated by commas`)
  }
  if (values.has('csv') && values.has('json')) {
    throw new UsageError('use --csv or --json')
  }
  const to = readDay(values, 'to') ?? dayOf(Date.now())
  const from = readDay(values, 'from') ?? daysBefore(to, DAYS_DEFAULT - 1)
  if (from > to) {
    throw new UsageError(`--from ${from}: use a day that is not after --to ${to}`)
  }
  return { from, to, by }
}

function readDay(values: CommandValues, name: string): string | undefined {
  const text = values.text(name)
  if (text !== undefined && !isDay(text)) {
    throw new UsageError(`--${name} ${text}: use a day such as 2026-11-01`)
  }
  return text
}

async function readKeyNames(table: Table): Promise<Map<string, string>> {
  const keys = await listApiKeys(table)
  return new Map(keys.flatMap(({ keyId, name }) => (name === null ? [] : [[keyId, name]])))
}

async function writeCsv(
  context: AdminContext,
  usages: AsyncIterable<TenantUsage>,
  toRows: (used: TenantUsage) => UsageRow[],
): Promise<Answer> {
  await context.write(usageCsvHeader())
  for await (const used of usages) {
    await context.write(toRows(used).map(usageCsvLine).join(''))
  }
  // All output has been written already.
  return { json: undefined, text: '' }
}

/** By cost, highest first; with days, in the order of the groups, so that time runs down the page. */
function sortRows(rows: readonly UsageRow[], { by }: UsageWish): readonly UsageRow[] {
  return by.includes('day')
    ? rows
    : rows.toSorted(
        (left, right) => Number(right.sums.cost > left.sums.cost) - Number(right.sums.cost < left.sums.cost),
      )
}

function describe(rows: readonly UsageRow[], { from, to, by }: UsageWish, columns: number | undefined): Answer {
  const total = rows.reduce((sum, { sums }) => addUsageSums(sum, sums), NO_USAGE)
  const json = {
    from,
    to,
    by,
    rows: rows.map(({ tenant, tenantName, dimensions, keyName, sums }) => ({
      tenant,
      tenant_name: tenantName,
      ...dimensions,
      ...(by.includes('key') ? { key_name: keyName ?? null } : {}),
      ...usageSumsView(sums),
    })),
    total: usageSumsView(total),
  }
  const text = rows.length === 0 ? `no usage from ${from} to ${to}` : usageTable(rows, { by, columns })
  return { json, text }
}
