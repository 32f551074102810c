import type { LedgerRow } from './read-ledger.ts'

/** Where a page ended: when its last row began, and the sort key of that row. */
export type LedgerPosition = { readonly beganAt: number; readonly key: string }

/** A row of the ledger with its position. A relayed request has one row, that of its end. */
export type PlacedRow = LedgerPosition & { readonly row: LedgerRow }
