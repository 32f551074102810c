/** What a cell of a table means, without its looks. */
export type CellValue = string | number | boolean | null | undefined

/** Where a spreadsheet would read a formula: full-width characters count, and so does what follows a separator of some spreadsheets. */
const FORMULA = /(^|[;\t\r\n])(?=[=+\-@＝＋－＠]|^[\t\r\n])/g

/** Plain numbers begin with a sign and are no formulas. */
const NUMBER = /^[+-]?\d+(\.\d+)?$/

/** Lines of RFC 4180, each with its end. */
export function csvLines(rows: readonly (readonly CellValue[])[]): string {
  return rows.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('')
}

/** What a spreadsheet would read as a formula gets a `'` in front. Semicolons and tabs are quoted too, which some take as separators. */
function csvCell(value: CellValue): string {
  const text = value === null || value === undefined ? '' : String(value)
  const harmless = NUMBER.test(text) ? text : text.replace(FORMULA, "$1'")
  return /[",;\t\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

/**
 * A file name of letters, digits and dashes, such as `reelgate-ledger-demo-2026-11-22.csv`.
 * @param isIncomplete is said in the name, so that a part is not taken for the whole: `reelgate-ledger-demo-2026-11-22-incomplete.csv`.
 */
export function csvFileName(
  parts: readonly (string | null | undefined)[],
  { now, isIncomplete = false }: { readonly now: Date; readonly isIncomplete?: boolean },
): string {
  const words = ['reelgate', ...parts, now.toISOString().slice(0, 10), isIncomplete ? 'incomplete' : '']
  const safe = words.map((word) =>
    (word ?? '')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, ''),
  )
  return `${safe.filter((word) => word !== '').join('-')}.csv`
}
