import { sumAmounts } from './amount.ts'

/** One kind of row of a statement: how many there are and what they change in sum. */
export type StatementLine = { readonly kind: string; readonly count: number; readonly amount: string }

/** The order in which a statement names the kinds: money that comes before money that goes. */
const KINDS = ['grant', 'adjust', 'reserve', 'release', 'settle']

/** The sums of ledger rows by kind, and the change of the balance that they make together. */
export function statementLines(rows: readonly { readonly kind: string; readonly amount: string }[]): {
  readonly lines: readonly StatementLine[]
  readonly change: string
} {
  const kinds = [...new Set([...KINDS, ...rows.map(({ kind }) => kind)])]
  const lines = kinds.map((kind) => {
    const amounts = rows.filter((row) => row.kind === kind).map(({ amount }) => amount)
    return { kind, count: amounts.length, amount: sumAmounts(amounts) }
  })
  return { lines: lines.filter(({ count }) => count > 0), change: sumAmounts(rows.map(({ amount }) => amount)) }
}
