/**
 * A line of CSV as RFC 4180 has it: a text with a comma, a quote or a line break is quoted, lines end with CR LF. One with a
 * semicolon or a tab is quoted too, which some spreadsheets take for the end of a cell.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(quoted).join(',')}\r\n`
}

function quoted(cell: string): string {
  const safe = asText(cell)
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** How a formula begins, also in the full width that some spreadsheets read as the same. */
const FORMULA = /(^|[;\t\r\n])(?=[=+\-@＝＋－＠]|^[\t\r\n])/g

/**
 * Spreadsheets run a cell that begins like a formula: an apostrophe before it makes it text, also where a cell would begin for
 * one that takes another separator. A number, though negative, is none.
 */
function asText(cell: string): string {
  return /^-\d+(\.\d+)?$/.test(cell) ? cell : cell.replace(FORMULA, "$1'")
}
