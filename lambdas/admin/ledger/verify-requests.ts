import { type StoredHold, unnamedRest } from '#store/relay-ledger/hold.ts'
import type { LedgerRow } from './read-ledger.ts'
import { checkRow, checkTimes } from './verify-rows.ts'

/** Checks that the count and the amount of a hold match the requests that it names. */
export function checkHolds(holds: readonly StoredHold[]): string[] {
  return holds.flatMap((hold) => {
    const { requests, amount } = unnamedRest(hold)
    const isPossible = requests > 0 ? amount >= 0n : requests === 0 && amount === 0n
    return isPossible ? [] : [`hold ${hold.holdId} does not add up with the requests that it names`]
  })
}

/**
 * A relayed request is open or has one resolution, never both, and a resolution has a billed amount if and only if it is a settlement.
 * The reserved amount is in one place at a time, the hold or the row, so only the sums can be compared.
 */
export function checkRequests(holds: readonly StoredHold[], rows: readonly LedgerRow[]): string[] {
  const open = holds.flatMap((hold) => hold.open)
  const openIds = new Set<string | null>(open.map(({ id }) => id))
  const ofRequests = rows.filter(({ isOfRequest }) => isOfRequest)
  const reservedAt = new Map(
    ofRequests.flatMap(({ kind, job, at }) => (kind === 'reserve' ? [[job, at] as const] : [])),
  )
  return [
    ...open.flatMap(({ id, amount }) => (amount < 0n ? [`request ${id} has a negative amount`] : [])),
    ...ofRequests
      .filter(({ kind }) => kind !== 'reserve')
      .flatMap((row) => checkResolution(row, { isOpen: openIds.has(row.job), reservedAt: reservedAt.get(row.job) })),
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
