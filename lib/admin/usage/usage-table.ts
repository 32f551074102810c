import type { UsageDimension } from '#core/api/usage.ts'
import { formatCredits } from '#core/money.ts'
import { addUsageSums, NO_USAGE, type UsageSums } from '#core/pricing/usage.ts'
import { printable } from '#core/redaction.ts'
import { bar } from '../../terminal/bar.ts'
import { formatTable } from '../command-line/answer.ts'
import type { UsageRow } from './usage-row.ts'

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
