import type { OpenRequest } from '#adapters/store/money/relay-reservation.ts'
import type { LedgerRow } from './read-ledger.ts'
import { checkRow, checkTimes } from './verify-rows.ts'

/**
 * A relayed request is open or has one resolution, never both, and a resolution has a billed amount if and only if it is a settlement.
 * The reserved amount is in one place at a time, the open item or the row, so only the sums can be compared.
 */
export function checkRequests(open: ReadonlyMap<string, OpenRequest>, rows: readonly LedgerRow[]): string[] {
  const ofRequests = rows.filter(({ isOfRequest }) => isOfRequest)
  const reservedAt = new Map(
    ofRequests.flatMap(({ kind, job, at }) => (kind === 'reserve' ? [[job, at] as const] : [])),
  )
  return [
    ...[...open.values()].flatMap(({ requestId, amount }) =>
      amount < 0n ? [`request ${requestId} has a negative amount`] : [],
    ),
    ...ofRequests
      .filter(({ kind }) => kind !== 'reserve')
      .flatMap((row) => checkResolution(row, { isOpen: open.has(row.job ?? ''), reservedAt: reservedAt.get(row.job) })),
  ]
}

function checkResolution(
  row: LedgerRow,
  { isOpen, reservedAt }: { isOpen: boolean; reservedAt: number | undefined },
): string[] {
  const name = `request ${row.job ?? '(none)'}`
  return [
    ...(isOpen ? [`${name} has a resolution row in the ledger and its reservation is open`] : []),
    ...checkRow(name, row),
    ...checkTimes(name, reservedAt ?? Number.POSITIVE_INFINITY, row.at),
  ]
}
