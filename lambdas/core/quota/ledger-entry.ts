/** A row of the append-only ledger, as the admin command line shows it. Amounts are decimal strings in credits. */
export type LedgerEntry = {
  readonly kind: 'grant' | 'reserve' | 'settle' | 'release'
  /** The video job or the relayed request; null for a grant. */
  readonly job: string | null
  /** Granted or reserved. */
  readonly amount: string
  /** Billed by a settlement; null for every other kind. */
  readonly actual: string | null
  /** ISO 8601. */
  readonly at: string
  /** Present if the amount was billed without reported usage. */
  readonly estimated?: true
}
