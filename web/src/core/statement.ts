import { amountString, parseAmount, sumAmounts } from './amount.ts'

type Movement = {
  readonly kind: string
  readonly amount: string
  readonly actual: string | null
  readonly reserved_at?: string
}

/** How a row changed what is available, with a sign. The one row of a relayed request stands for its reservation, too. */
export function changeOf({ kind, amount, actual, reserved_at: reservedAt }: Movement): string {
  const [moved = 0n, billed = 0n] = [parseAmount(amount), parseAmount(actual ?? '0')]
  if (kind === 'reserve') {
    return amountString(-moved)
  }
  return amountString((reservedAt === undefined ? moved : 0n) - billed)
}

/** One kind of row of a statement: how many there are and what they change in sum. */
export type StatementLine = { readonly kind: string; readonly count: number; readonly amount: string }

/** The order in which a statement names the kinds: money that comes before money that goes. */
const KINDS = ['grant', 'adjust', 'reserve', 'release', 'settle']

/** The sums of ledger rows by kind, as far as rows have been added. A ledger of any length is read without keeping its rows. */
export class Statement {
  readonly #lines = new Map<string, StatementLine>()

  /** Adds the rows of one page. */
  add(rows: readonly Movement[]): void {
    for (const row of rows) {
      const { kind } = row
      const line = this.#lines.get(kind) ?? { kind, count: 0, amount: '0' }
      this.#lines.set(kind, { kind, count: line.count + 1, amount: sumAmounts([line.amount, changeOf(row)]) })
    }
  }

  /** One line for each kind that has a row. */
  lines(): readonly StatementLine[] {
    const kinds = new Set([...KINDS, ...this.#lines.keys()])
    return [...kinds].flatMap((kind) => this.#lines.get(kind) ?? [])
  }
}
