/** A line of CSV as RFC 4180 has it: a text with a comma, a quote or a line break is quoted, lines end with CR LF. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(quoted).join(',')}\r\n`
}

function quoted(cell: string): string {
  const safe = asText(cell)
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/**
 * Spreadsheets run a cell that begins like a formula: an apostrophe before it makes it text. A number, though negative, is none.
 */
function asText(cell: string): string {
  return /^[=+\-@\t\r\n]/.test(cell) && !/^-\d+(\.\d+)?$/.test(cell) ? `'${cell}` : cell
}
