import type { Budget } from './budget.ts'

/** The percentages of a budget at which its tenant and the operators are alerted, unless the tenant has others. */
export const ALERT_THRESHOLDS: readonly number[] = [50, 80, 100]

/** Bounds of a threshold in percent. Spending can exceed a budget by an overdraft or after the amount was lowered. */
export const ALERT_THRESHOLD_PERCENT = { min: 1, max: 200 } as const

/** A tenant has at most this many thresholds. */
export const ALERT_THRESHOLDS_MAX = 10

/** The thresholds that the spending of a period has reached, from low to high. Nothing is reached before something is spent. */
export function crossedThresholds(
  { amount, spent }: Pick<Budget, 'amount' | 'spent'>,
  thresholds: readonly number[],
): number[] {
  const isCrossed = (percent: number) => spent > 0n && spent * 100n >= amount * BigInt(percent)
  return thresholds.filter(isCrossed).toSorted((left, right) => left - right)
}
