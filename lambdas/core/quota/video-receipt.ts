import { formatCredits, type Microcredits, ZERO } from '../money/money.ts'
import { type PriceLine, priceLineView } from './price-line.ts'
import { UNKNOWN } from './usage-counter.ts'

/** The two ledger rows of a video job. Rows of older versions lack what was not recorded then. */
export type ReceiptRows = {
  readonly reserve: ReceiptRow & { readonly model: string | undefined; readonly billing: string | undefined }
  /** Undefined for an open job. */
  readonly resolution: (ReceiptRow & { readonly kind: 'settle' | 'release'; readonly actual: Microcredits }) | undefined
}

type ReceiptRow = {
  readonly amount: Microcredits
  /** Milliseconds. */
  readonly at: number
  readonly lines: readonly PriceLine[] | undefined
}

/** The body of a receipt, from ledger rows alone. The amounts of the lines sum to the cost. */
export function videoReceipt(jobId: string, rows: ReceiptRows) {
  const { reserve, resolution } = rows
  return {
    object: 'video.receipt',
    id: jobId,
    model: reserve.model ?? UNKNOWN,
    billing: reserve.billing ?? UNKNOWN,
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

/** A bill at the estimate has the lines of the estimate. A bill whose parts were not recorded is one line. */
function billedLines({ reserve, resolution }: ReceiptRows) {
  if (resolution?.kind !== 'settle') {
    return []
  }
  const lines = resolution.lines ?? reserve.lines ?? []
  const sum = lines.reduce((total, { amount }) => total + amount, ZERO as bigint)
  return lines.length > 0 && sum === resolution.actual
    ? lines.map(priceLineView)
    : [{ what: 'video', quantity: null, unit: null, unit_price: null, amount: formatCredits(resolution.actual) }]
}
