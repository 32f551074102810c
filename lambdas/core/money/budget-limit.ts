import { PERIOD_KINDS, type PeriodKind } from './budget.ts'
import { formatCredits, type Microcredits, parseCredits } from './money.ts'

/** What may be spent in one period. */
export type BudgetLimit = { readonly amount: Microcredits; readonly kind: PeriodKind }

/** A string is not a limit such as `5/month`. */
export class InvalidBudgetError extends Error {
  override readonly name = 'InvalidBudgetError'
}

/**
 * Reads a limit such as `5/month`, `0.25/day` or `100/total`.
 * @throws InvalidBudgetError for a string of another form, InvalidAmountError for its amount.
 */
export function parseBudgetLimit(text: string): BudgetLimit {
  const [amount = '', period, ...rest] = text.split('/')
  if (period === undefined || rest.length > 0) {
    throw new InvalidBudgetError(`"${text}" is not a budget: write credits per period, such as 5/month`)
  }
  return { amount: parseCredits(amount), kind: parsePeriodKind(period) }
}

/** Reads the kind of a period. @throws InvalidBudgetError. */
export function parsePeriodKind(text: string): PeriodKind {
  const kind = PERIOD_KINDS.find((known) => known === text)
  if (kind === undefined) {
    throw new InvalidBudgetError(`"${text}" is not a period: use ${PERIOD_KINDS.slice(0, -1).join(', ')} or total`)
  }
  return kind
}

/** Writes a limit as {@link parseBudgetLimit} reads it. */
export function formatBudgetLimit({ amount, kind }: BudgetLimit): string {
  return `${formatCredits(amount)}/${kind}`
}
