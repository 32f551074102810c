/** One line of a bill: dollars for the number of jobs or requests that the table is about. */
export type CostLine = { readonly part: string; readonly count: string; readonly dollars: number }

/** Dollars of all lines of a bill. */
export function sumOf(lines: readonly CostLine[]): number {
  return lines.reduce((sum, { dollars }) => sum + dollars, 0)
}
