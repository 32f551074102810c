import { printable } from '#core/redaction.ts'

/** The output of a command: JSON for programs, a table for people. */
export type Output = {
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

/**
 * A CSV line by RFC 4180: cells with a comma, a quote or a line break are quoted, and lines end with CR LF. Cells with a semicolon or a
 * tab are quoted too, because some spreadsheets use these as separators. Other control characters are escaped as in a table, for whoever looks
 * at the file on a terminal.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(quoted).join(',')}\r\n`
}

function quoted(cell: string): string {
  const safe = asText(cell.replaceAll(/[^\t\r\n]+/g, printable))
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** The beginning of a formula, including full-width characters, which some spreadsheets treat alike. */
const FORMULA = /(^|[;\t\r\n])(?=[=+\-@＝＋－＠]|^[\t\r\n])/g

/**
 * Spreadsheets run a cell that begins like a formula. An apostrophe in front makes the cell a string, also after characters that some
 * spreadsheets use as separators. A negative number is not a formula.
 */
function asText(cell: string): string {
  return /^-\d+(\.\d+)?$/.test(cell) ? cell : cell.replace(FORMULA, "$1'")
}
