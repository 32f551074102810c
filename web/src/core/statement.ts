import { sumAmounts } from './amount.ts'

/** One kind of row of a statement: how many there are and what they change in sum. */
export type StatementLine = { readonly kind: string; readonly count: number; readonly amount: string }

/** The order in which a statement names the kinds: money that comes before money that goes. */
const KINDS = ['grant', 'adjust', 'reserve', 'release', 'settle']

/** The sums of ledger rows by kind, as far as rows have been added. A ledger of any length is read without keeping its rows. */
export class Statement {
  readonly #lines = new Map<string, StatementLine>()

  /** Adds the rows of one page. */
  add(rows: readonly { readonly kind: string; readonly amount: string }[]): void {
    for (const { kind, amount } of rows) {
      const line = this.#lines.get(kind) ?? { kind, count: 0, amount: '0' }
      this.#lines.set(kind, { kind, count: line.count + 1, amount: sumAmounts([line.amount, amount]) })
    }
  }

  /** One line for each kind that has a row. */
  lines(): readonly StatementLine[] {
    const kinds = new Set([...KINDS, ...this.#lines.keys()])
    return [...kinds].flatMap((kind) => this.#lines.get(kind) ?? [])
  }
}
