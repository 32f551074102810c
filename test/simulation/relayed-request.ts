import type { RelayReservation, RelayResolution } from '#store/relay-ledger/relay-reservation.ts'

/** One relayed request, as its caller and its process know it. */
export type RelayedRequest = {
  readonly reservation: RelayReservation
  /** `unknown`: the caller got an error that says nothing about the money, or the process died. */
  locked: 'asked' | 'yes' | 'refused' | 'unknown'
  /** Every resolution that its process asked for. */
  readonly asked: RelayResolution[]
  /** The resolutions that the ledger said were written by this call. */
  readonly resolved: RelayResolution[]
}

/** Refusals by which a caller learns that nothing was locked. */
const REFUSALS: readonly string[] = [
  'InvalidApiKeyError',
  'CallerChangedError',
  'InsufficientQuotaError',
  'BudgetExceededError',
]

/** What an error of a reservation says about the money. */
export function lockedAfter(error: unknown): 'refused' | 'unknown' {
  return error instanceof Error && REFUSALS.includes(error.name) ? 'refused' : 'unknown'
}

/** What came of the relayed requests of one history. */
export type RelayedSums = {
  readonly requests: number
  readonly refused: number
  readonly settled: number
  /** Transactions of several requests. */
  readonly groups: number
  /** Outcomes of resolutions, errors of callers, ends of processes, by name. */
  readonly happened: ReadonlyMap<string, number>
}

/** The sums of a history without relayed requests. */
export const NOTHING_RELAYED: RelayedSums = { requests: 0, refused: 0, settled: 0, groups: 0, happened: new Map() }
