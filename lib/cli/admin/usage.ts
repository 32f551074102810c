import * as z from 'zod'
import { pageFields } from '#core/admin/read-responses.ts'
import { usageResponse } from '#core/api/responses.ts'
import {
  readDimensions,
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageGroup,
  UsageGroups,
  usageSumsView,
} from '#core/api/usage.ts'
import { formatCredits } from '#core/money.ts'
import { addUsageSums, dayOf, daysBefore, isDay, NO_USAGE, type UsageSums } from '#core/pricing/usage.ts'
import { printable } from '#core/redaction.ts'
import { getUsage } from '#lambdas/admin/usage.ts'
import { listApiKeys } from '#store/keys/api-keys.ts'
import type { Table } from '#store/table/table.ts'
import { listTenantNames } from '#store/tenants/tenants.ts'
import { streamUsageCounters } from '#store/usage.ts'
import { csvLine, formatTable, type Output } from '../output.ts'
import { UsageError } from '../terminal.ts'
import type { AdminContext, Command, CommandValues } from './command.ts'
import { documentOperation } from './document.ts'
import { findTenant } from './read-options.ts'

const { from, to, group_by: by, data: rows, total } = usageResponse.shape

/** The operation, as people read about it. */
export const getUsageDocument = documentOperation(getUsage, {
  summary: 'usage of a tenant, or of all',
  description:
    'As `GET /v1/usage` of the gateway. Without `tenant`: all tenants, from the summary of the last minute, and `group_by` may also hold `tenant`.',
  returns: 'A page of groups.',
  output: z.strictObject({
    ...{ from, to, by, rows, total },
    ...pageFields,
    left_out: z
      .string()
      .nullable()
      .describe('What the summary of all tenants leaves out, and the command that shows it; null if it is complete.'),
  }),
})

/** Days in UTC, `yyyy-mm-dd`, both included, and what usage is grouped by. */
export type UsageWish = { readonly from: string; readonly to: string; readonly by: readonly UsageDimension[] }

/** The usage of one tenant. */
export type TenantUsage = {
  readonly tenant: { readonly id: string; readonly name: string }
  readonly groups: readonly UsageGroup[]
  readonly total: UsageSums
}

/** The usage of tenants, one after the other: one range query for each. Tenants without usage are left out. */
export async function* readUsage(
  table: Table,
  tenants: readonly TenantUsage['tenant'][],
  { by, ...range }: UsageWish,
): AsyncGenerator<TenantUsage> {
  for (const tenant of tenants) {
    const groups = new UsageGroups(by)
    for await (const counter of streamUsageCounters(table, tenant.id, range)) {
      groups.add(counter)
    }
    if (groups.total.requests > 0) {
      yield { tenant, groups: groups.sorted(), total: groups.total }
    }
  }
}

/** The order never changes; new columns come last. */
const COLUMNS = [
  'tenant',
  'tenant_name',
  'day',
  'model',
  'key',
  'key_name',
  'operation',
  'requests',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'video_seconds',
  'images',
  'cost',
] as const

/** The names of the columns, for the help. */
export const USAGE_CSV_COLUMNS = COLUMNS.join(', ')

/** The first line of an export. */
export function usageCsvHeader(): string {
  return csvLine(COLUMNS)
}

/** One line of an export. Columns that usage is not grouped by are empty. */
export function usageCsvLine({ tenant, tenantName, dimensions, keyName = '', sums }: UsageRow): string {
  const { day = '', model = '', key = '', operation = '' } = dimensions
  return csvLine([
    tenant,
    tenantName,
    day,
    model,
    key,
    keyName,
    operation,
    String(sums.requests),
    String(sums.inputTokens),
    String(sums.cachedInputTokens),
    String(sums.cacheWriteTokens),
    String(sums.outputTokens),
    String(sums.videoMilliseconds / 1_000),
    String(sums.images),
    formatCredits(sums.cost),
  ])
}

/** One line of the usage of tenants. A dimension that usage is not grouped by is undefined. */
export type UsageRow = {
  readonly tenant: string
  readonly tenantName: string
  readonly dimensions: Readonly<Partial<Record<UsageDimension, string>>>
  /** The operator's name for the key; undefined for a key without one. */
  readonly keyName: string | undefined
  readonly sums: UsageSums
}

/** The lines of one tenant, in the order of its groups. @param keyNames by the public ids of keys. */
export function usageRows(
  { tenant, groups }: TenantUsage,
  by: readonly UsageDimension[],
  keyNames: ReadonlyMap<string, string>,
): UsageRow[] {
  return groups.map(({ values, sums }: UsageGroup) => {
    const dimensions = Object.fromEntries(by.map((dimension, index) => [dimension, values[index]]))
    const keyName = keyNames.get(dimensions.key ?? '')
    return { tenant: tenant.id, tenantName: tenant.name, dimensions, keyName, sums }
  })
}

/** Eighths of a character cell, from one to seven. */
const PARTS = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const
const WHOLE = '█'
const PARTS_PER_CELL = PARTS.length + 1

/**
 * A horizontal bar of block characters. A share above zero has at least one eighth of a cell.
 * @param share from 0 to 1.
 * @param width of a share of 1, in character cells.
 */
export function bar(share: number, width: number): string {
  const eighths = share > 0 ? Math.max(1, Math.round(share * width * PARTS_PER_CELL)) : 0
  return WHOLE.repeat(Math.floor(eighths / PARTS_PER_CELL)) + (PARTS[(eighths % PARTS_PER_CELL) - 1] ?? '')
}

/** Numbers of a line. Those that may be left out are shown if any line has one. */
const NUMBERS: readonly {
  readonly title: string
  readonly show: (sums: UsageSums) => string
  readonly always?: true
}[] = [
  { title: 'REQUESTS', show: ({ requests }) => String(requests), always: true },
  { title: 'INPUT', show: ({ inputTokens }) => String(inputTokens) },
  { title: 'CACHED', show: ({ cachedInputTokens }) => String(cachedInputTokens) },
  { title: 'WRITTEN', show: ({ cacheWriteTokens }) => String(cacheWriteTokens) },
  { title: 'OUTPUT', show: ({ outputTokens }) => String(outputTokens) },
  { title: 'SECONDS', show: ({ videoMilliseconds }) => String(videoMilliseconds / 1_000) },
  { title: 'IMAGES', show: ({ images }) => String(images) },
  { title: 'COST', show: ({ cost }) => formatCredits(cost), always: true },
]

/** A bar is at most this wide, and left out where there is less room than the first number. */
const BAR_CELLS = { min: 8, max: 40 } as const

type TableOptions = {
  readonly by: readonly UsageDimension[]
  /** Width of the terminal, which shows the costs as bars: beside the numbers if there is room, else below them. Undefined: no bars. */
  readonly columns: number | undefined
}

/** Lines of usage as aligned columns, with their total as the last line. */
export function usageTable(rows: readonly UsageRow[], { by, columns }: TableOptions): string {
  const total = rows.reduce((sum, { sums }) => addUsageSums(sum, sums), NO_USAGE)
  const numbers = NUMBERS.filter(({ show, always }) => always || show(total) !== '0')
  const titles = ['TENANT', ...by.map((dimension) => dimension.toUpperCase()), ...numbers.map(({ title }) => title)]
  const lines = rows.map((row) => [...labelsOf(row, by), ...numbers.map(({ show }) => show(row.sums))])
  const last = ['total', ...by.map(() => ''), ...numbers.map(({ show }) => show(total))]
  const cells = alignNumbers([titles, ...lines, last], 1 + by.length)
  const room = columns === undefined ? 0 : columns - widthOf(cells)
  const bars = barsOf(rows, room)
  const table = formatTable(
    [],
    cells.map((line, index) => [...line, bars[index - 1] ?? '']),
  )
  return columns === undefined || bars.length > 0 ? table : `${table}${chart(rows, { by, columns })}`
}

/** The costs as bars below a table that leaves no room; empty if the labels leave none either. Labels that never differ are left out. */
function chart(rows: readonly UsageRow[], { by, columns }: { by: readonly UsageDimension[]; columns: number }): string {
  const labels = rows.map((row) => labelsOf(row, by))
  const differing = (labels[0] ?? []).map((label, column) => labels.some((line) => line[column] !== label))
  const lines = labels.map((line) => line.filter((_, column) => differing[column]))
  const bars = barsOf(rows, columns - widthOf(lines))
  return bars.length === 0
    ? ''
    : `\n\n${formatTable(
        [],
        lines.map((line, index) => [...line, bars[index] ?? '']),
      )}`
}

function labelsOf({ tenant, tenantName, dimensions, keyName }: UsageRow, by: readonly UsageDimension[]): string[] {
  const labels = by.map((dimension) => {
    const label = dimensions[dimension] ?? ''
    return dimension === 'key' && keyName !== undefined ? `${label} (${keyName})` : label
  })
  return [tenant === tenantName ? tenant : `${tenantName} (${tenant})`, ...labels].map(printable)
}

/** Columns from `firstNumber` on end at the same character. */
function alignNumbers(lines: readonly (readonly string[])[], firstNumber: number): string[][] {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines.map((line) =>
    line.map((cell, column) => (column < firstNumber ? cell : cell.padStart(widths[column] ?? 0))),
  )
}

/** Characters of the longest line, with the two spaces after each column. */
function widthOf(lines: readonly (readonly string[])[]): number {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return widths.reduce((sum, width) => sum + width + 2, 0)
}

/** The cost of each line as a share of the highest. */
function barsOf(rows: readonly UsageRow[], room: number): string[] {
  const width = Math.min(room, BAR_CELLS.max)
  const highest = rows.reduce((most, { sums }) => (sums.cost > most ? sums.cost : most), 0n)
  if (width < BAR_CELLS.min || highest === 0n) {
    return []
  }
  return rows.map(({ sums }) => bar(Number(sums.cost) / Number(highest), width))
}

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
): Promise<Output> {
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

function describe(rows: readonly UsageRow[], { from, to, by }: UsageWish, columns: number | undefined): Output {
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
