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

/** A line of a statement: a balance, or what moved and in how many rows. */
export type StatementLine = { readonly what: string; readonly count: number | null; readonly amount: string }

/** What rows of the ledger granted, adjusted and spent, as far as rows have been added. A ledger of any length is read without keeping its rows. */
export class Statement {
  readonly #sums = {
    grant: { what: 'Granted', count: 0, amount: 0n },
    adjust: { what: 'Adjusted', count: 0, amount: 0n },
    settle: { what: 'Spent', count: 0, amount: 0n },
  }

  /** Adds the rows of one page. What is reserved or released is neither granted nor spent. */
  add(rows: readonly Pick<Movement, 'kind' | 'amount' | 'actual'>[]): void {
    for (const { kind, amount, actual } of rows) {
      if (kind === 'grant' || kind === 'adjust' || kind === 'settle') {
        const sum = this.#sums[kind]
        sum.count += 1
        sum.amount += kind === 'settle' ? -(parseAmount(actual ?? '') ?? 0n) : (parseAmount(amount) ?? 0n)
      }
    }
  }

  /** How the balance changed in sum. */
  change(): string {
    const { grant, adjust, settle } = this.#sums
    return amountString(grant.amount + adjust.amount + settle.amount)
  }

  /** From the balance before the first row to that after the last one. */
  lines(opening: string): readonly StatementLine[] {
    const moved = Object.values(this.#sums).filter(({ what, count }) => what !== 'Adjusted' || count > 0)
    return [
      { what: 'Opening balance', count: null, amount: opening },
      ...moved.map(({ amount, ...line }) => ({ ...line, amount: amountString(amount) })),
      { what: 'Closing balance', count: null, amount: sumAmounts([opening, this.change()]) },
    ]
  }
}
