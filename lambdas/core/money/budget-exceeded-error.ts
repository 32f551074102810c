import { HttpError } from '../errors.ts'
import { type BudgetPeriod, periodEnd } from './budget.ts'
import { formatCredits, type Microcredits } from './money.ts'

/** Why a budget refused a reservation. */
export type BudgetShortfall = {
  /** Whose budget. */
  readonly of: 'api key' | 'tenant'
  /** The amount to reserve. */
  readonly needed: Microcredits
  /** Left in the period; negative after an overdraft or a lowered amount. */
  readonly left: Microcredits
  readonly period: BudgetPeriod
  /** What the client can do, such as `set max_tokens to at most 12`. */
  readonly advice?: string | undefined
}

/** The reservation exceeds what the budget of the key or of its tenant has left in this period. Nothing was reserved. */
export class BudgetExceededError extends HttpError {
  override readonly name = 'BudgetExceededError'
  readonly statusCode = 402
  override readonly kind = { type: 'insufficient_quota', code: 'budget_exceeded' }
  /** Undefined if the budget is gone from the table. */
  readonly shortfall: BudgetShortfall | undefined
  constructor(shortfall?: BudgetShortfall) {
    super('budget exceeded')
    this.shortfall = shortfall
  }
}

const ADJECTIVES = { day: 'daily ', month: 'monthly ', total: '' } as const

/** Explains a shortfall to a person. */
export function budgetShortfallMessage({ of, needed, left, period, advice }: BudgetShortfall): string {
  const budget = `${ADJECTIVES[period.kind]}budget of this ${of}`
  const amounts = `${formatCredits(needed)} credits are needed, but ${formatCredits(left)} are left in the ${budget}`
  const end = periodEnd(period)
  const until = end === null ? '' : ` until ${new Date(end * 1000).toISOString().replace('.000Z', 'Z')}`
  return `${amounts}${until}${advice === undefined ? '' : `; ${advice}`}`
}
