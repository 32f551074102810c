import { formatCredits, type Microcredits } from '../money/money.ts'
import { type PriceLine, priceLineView } from './price-line.ts'

/** The two ledger rows of a video job. */
export type ReceiptRows = {
  readonly reserve: ReceiptRow & {
    readonly model: string
    readonly billing: string
    readonly lines: readonly PriceLine[]
  }
  /** Undefined for an open job. */
  readonly resolution: Resolved | undefined
}

type ReceiptRow = {
  readonly amount: Microcredits
  /** Milliseconds. */
  readonly at: number
}

type Resolved = ReceiptRow & {
  readonly kind: 'settle' | 'release'
  readonly actual: Microcredits
  /** Undefined for a release, and for a bill at the estimate. */
  readonly lines: readonly PriceLine[] | undefined
}

/** The body of a receipt, from ledger rows alone. The amounts of the lines sum to the cost. */
export function videoReceipt(jobId: string, rows: ReceiptRows) {
  const { reserve, resolution } = rows
  return {
    object: 'video.receipt',
    id: jobId,
    model: reserve.model,
    billing: reserve.billing,
    estimate: formatCredits(reserve.amount),
    // A release costs nothing.
    cost: resolution === undefined ? null : formatCredits(resolution.actual),
    lines: billedLines(rows),
    ledger: [
      entry('reserve', reserve, null),
      ...(resolution === undefined
        ? []
        : [entry(resolution.kind, resolution, resolution.kind === 'settle' ? resolution.actual : null)]),
    ],
  }
}

function entry(kind: string, { amount, at }: ReceiptRow, actual: Microcredits | null) {
  return {
    kind,
    amount: formatCredits(amount),
    actual: actual === null ? null : formatCredits(actual),
    at: Math.trunc(at / 1000),
  }
}

/** A bill at the estimate has the lines of the estimate. */
function billedLines({ reserve, resolution }: ReceiptRows) {
  return resolution?.kind === 'settle' ? (resolution.lines ?? reserve.lines).map(priceLineView) : []
}
