import { printable } from '#core/redaction.ts'

/** The output of a command: JSON for programs, a table for people. */
export type Answer = {
  /** Undefined prints nothing: the command has written its output already. */
  readonly json: unknown
  readonly text: string
  /** False ends the process with exit code 1. */
  readonly isOk?: boolean
}

/**
 * Aligned columns under a header, if it is not empty. Empty cells show a dash, and control characters are escaped, because tenants and
 * upstreams wrote some of the cells.
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
