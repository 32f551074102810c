import { printable } from './printable.ts'

/** What a command answers: JSON for programs, a table for people. */
export type Answer = {
  /** Undefined prints nothing: all there is to say was written before. */
  readonly json: unknown
  readonly text: string
  /** False ends the process with exit code 1. */
  readonly isOk?: boolean
}

/**
 * Aligned columns, under a header unless that is empty; for people, so empty cells show a dash, and what a terminal would obey is
 * written out: some cells are what tenants and upstreams wrote.
 */
export function formatTable(header: readonly string[], rows: readonly (readonly (string | null)[])[]): string {
  const cells = [
    ...(header.length === 0 ? [] : [header]),
    ...rows.map((row) => row.map((cell) => printable(cell ?? '-'))),
  ]
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)))
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
