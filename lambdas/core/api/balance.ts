import { allowsMove, type Budget, budgetAt, periodEnd } from '../budgets.ts'
import { requestRate } from '../limits.ts'
import { formatCredits, type Microcredits } from '../money.ts'

/** What a tenant and one of its keys have. */
export type AccountView = {
  /** available + held + spent = granted. */
  readonly balance: Readonly<Record<'available' | 'held' | 'spent' | 'granted', Microcredits>>
  /** Undefined for a tenant without a budget. */
  readonly tenantBudget?: Budget | undefined
  readonly key: {
    readonly id: string
    readonly name: string | null
    /** Models the key may use; null for all. */
    readonly models: readonly string[] | null
    /** Unix seconds; null for a key that does not expire. */
    readonly expiresAt: number | null
    /** Requests a minute; undefined for no limit. */
    readonly ratePerMinute?: number | undefined
    /** Null for a key without a budget of its own. */
    readonly budget: Budget | null
  }
}

/** Whether funds and budgets allow a reservation of this amount now. Another request may take what is left. */
export function isAffordable(
  { balance, tenantBudget, key }: AccountView,
  amount: Microcredits,
  nowMilliseconds: number,
) {
  const move = { locked: amount, closed: 0n, billed: 0n }
  const budgets = [key.budget, tenantBudget].flatMap((budget) => budget ?? [])
  return balance.available >= amount && budgets.every((budget) => allowsMove(budget, move, nowMilliseconds))
}

/** The body of `GET /v1/balance`. A budget is shown as it counts at this time. */
export function balanceView({ balance, key }: AccountView, nowMilliseconds: number) {
  const { id, name, models, expiresAt, ratePerMinute } = key
  return {
    object: 'balance' as const,
    unit: 'credit' as const,
    ...balanceAmounts(balance),
    key: {
      id,
      name,
      models,
      expires_at: expiresAt,
      rate: ratePerMinute === undefined ? null : rateView(ratePerMinute),
      budget: budgetView(key.budget, nowMilliseconds),
    },
  }
}

function rateView(ratePerMinute: number) {
  const { perMinute, burst } = requestRate(ratePerMinute)
  return { per_minute: perMinute, burst }
}

/** The four sums of a balance, as decimal strings of credits. */
export function balanceAmounts({ available, held, spent, granted }: AccountView['balance']) {
  return {
    available: formatCredits(available),
    held: formatCredits(held),
    spent: formatCredits(spent),
    granted: formatCredits(granted),
  }
}

/** A budget as it counts at this time; null without one. */
export function budgetView(budget: Budget | null, nowMilliseconds: number) {
  if (budget === null) {
    return null
  }
  const { amount, period, spent, held } = budgetAt(budget, nowMilliseconds)
  return {
    amount: formatCredits(amount),
    period: period.kind,
    spent: formatCredits(spent),
    held: formatCredits(held),
    resets_at: periodEnd(period),
  }
}
