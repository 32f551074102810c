import type { LedgerRow } from './read-ledger.ts'

/**
 * How much earlier than its reservation a resolution may appear: the times come from the clocks of two functions. Each clock may be five
 * minutes off; the pipeline is tested with the same (test/faults/clock-skew.test.ts).
 */
const CLOCK_SKEW_MILLISECONDS = 10 * 60 * 1000

/** A row has a billed amount if and only if it is a settlement, and no negative amount unless it is an adjustment. */
export function checkRow(name: string, { kind, amount, actual }: LedgerRow): string[] {
  return [
    ...((actual !== null) !== (kind === 'settle')
      ? [`${name} has a ${kind} row ${actual === null ? 'without' : 'with'} an actual amount`]
      : []),
    ...((amount < 0n && kind !== 'adjust') || (actual ?? 0n) < 0n ? [`${name} has a negative amount`] : []),
  ]
}

/** Times in milliseconds. */
export function checkTimes(name: string, reservedAt: number, resolvedAt: number): string[] {
  return resolvedAt < reservedAt - CLOCK_SKEW_MILLISECONDS ? [`${name} was resolved before it was reserved`] : []
}
