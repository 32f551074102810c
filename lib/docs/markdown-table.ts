/** A Markdown table; empty without rows. Bars inside cells are escaped. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return rows.length === 0 ? '' : [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

/** Inline code. */
export function code(text: string): string {
  return `\`${text}\``
}
