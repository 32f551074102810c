import type { OpenRequest } from '#adapters/ledger/relay-reservation.ts'
import type { LedgerRow } from './read-ledger.ts'

/** A relayed request is open or has one resolution, never both, and its resolution says what was billed exactly where it bills. */
export function checkRequests(open: ReadonlyMap<string, OpenRequest>, rows: readonly LedgerRow[]): string[] {
  const ofRequests = rows.filter(({ isOfRequest }) => isOfRequest)
  const reservedAt = new Map(
    ofRequests.flatMap(({ kind, job, at }) => (kind === 'reserve' ? [[job, at] as const] : [])),
  )
  return ofRequests
    .filter(({ kind }) => kind !== 'reserve')
    .flatMap((row) => checkResolution(row, { isOpen: open.has(row.job ?? ''), reservedAt: reservedAt.get(row.job) }))
}

function checkResolution(
  { kind, job, amount, actual, at }: LedgerRow,
  { isOpen, reservedAt }: { isOpen: boolean; reservedAt: number | undefined },
): string[] {
  const name = `request ${job ?? '(none)'}`
  return [
    ...(isOpen ? [`${name} has a resolution row in the ledger and its reservation is open`] : []),
    ...((actual !== null) !== (kind === 'settle')
      ? [`${name} has a ${kind} row ${actual === null ? 'without' : 'with'} an actual amount`]
      : []),
    ...(amount < 0n || (actual ?? 0n) < 0n ? [`${name} has a negative amount`] : []),
    ...(reservedAt === undefined || at < reservedAt ? [`${name} was resolved before it was reserved`] : []),
  ]
}
