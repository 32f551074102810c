/** One row of the append-only ledger, as the admin command line shows it. Amounts are decimal strings in credits. */
export type LedgerEntry = {
  readonly kind: 'grant' | 'reserve' | 'settle' | 'release'
  /** The video job or the relayed request; null for a grant. */
  readonly job: string | null
  /** Granted, or locked by the reservation. */
  readonly amount: string
  /** Billed by a settlement; null for every other kind. */
  readonly actual: string | null
  /** ISO 8601. */
  readonly at: string
  /** Billed without the upstream's word for what was used; left out everywhere else. */
  readonly estimated?: true
}
