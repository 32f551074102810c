import type { UsageView } from './usage-view.ts'

/** A row of the append-only ledger, as the admin command line shows it. Amounts are decimal strings in credits. */
export type LedgerEntry = {
  readonly kind: 'grant' | 'adjust' | 'reserve' | 'settle' | 'release'
  /** The video job or the relayed request; null for a grant or an adjustment. */
  readonly job: string | null
  /** Granted or reserved; added or, below zero, taken by an adjustment. */
  readonly amount: string
  /** Billed by a settlement; null for every other kind. */
  readonly actual: string | null
  /** ISO 8601. */
  readonly at: string
  /** Present if the amount was billed without reported usage. */
  readonly estimated?: true
  readonly model?: string
  /** As in the table of routes, such as `create-chat-completion`. */
  readonly operation?: string
  /** Public id of the API key. */
  readonly key?: string
  /** The channel that served a settled job or request. */
  readonly channel?: string
  /** Of a settlement. */
  readonly usage?: UsageView
  /** Present if a usage counter includes the settlement. */
  readonly counted?: true
  /** Of a grant or an adjustment. */
  readonly id?: string
  /** Of an adjustment. */
  readonly reason?: string
}
