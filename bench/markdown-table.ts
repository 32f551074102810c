type Cell = string | number

/** A Markdown table. Columns whose every cell begins with a digit are set to the right. */
export function markdownTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const isNumeric = head.map((_, column) => rows.every((row) => /^[~<>=$+-]*\d/.test(String(row[column] ?? ''))))
  const rule = isNumeric.map((numeric) => (numeric ? '--:' : '---'))
  return [head, rule, ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
}
