import { formatCredits, type Microcredits } from '#core/money.ts'
import { usageView } from '#core/pricing/usage.ts'
import type { PlacedRow } from '#lambdas/admin/ledger/placed-row.ts'
import type { LedgerRow } from '#lambdas/admin/ledger/read-ledger.ts'

/** A row of the ledger as a list shows it. Times in Unix seconds. */
export function ledgerRow({ row, beganAt, key }: PlacedRow) {
  const isOfRequest = row.job !== null
  return {
    at: Math.trunc(row.at / 1000),
    began_at: Math.trunc(beganAt / 1000),
    kind: row.kind,
    id: row.job ?? row.id ?? key,
    amount: formatCredits(effectOnAvailable(row) as Microcredits),
    reserved: isOfRequest ? formatCredits(row.amount) : null,
    actual: row.actual === null ? null : formatCredits(row.actual),
    estimated: row.isEstimated,
    model: row.model,
    operation: row.operation,
    key: row.keyId,
    channel: row.channel,
    usage: row.usage === null ? null : usageView(row.usage),
    reference: row.id,
    reason: row.reason,
  }
}

/**
 * How a row changed what is available. The rows of a job add up to minus its bill; the one row of a relayed request stands for its
 * reservation too.
 */
function effectOnAvailable({ kind, amount, actual, isOfRequest }: LedgerRow): bigint {
  switch (kind) {
    case 'grant':
    case 'adjust':
      return amount
    case 'reserve':
      return -amount
    case 'settle':
      return (isOfRequest ? 0n : amount) - (actual ?? 0n)
    case 'release':
      return isOfRequest ? 0n : amount
    default:
      return kind satisfies never
  }
}
