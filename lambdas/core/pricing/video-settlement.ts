import type { VideoPriceTier } from '../catalogue/price-rows.ts'
import { divideHalfUp, formatCredits, type Microcredits } from '../money.ts'
import type { VideoResult } from '../providers/video-provider.ts'
import { type CountedUsage, countedUsage } from './usage.ts'
import {
  anyVideoQuantityMax,
  type DecimalQuantity,
  NoPriceError,
  type PriceLine,
  type PriceSnapshot,
  parseQuantity,
  priceLineView,
  videoPriceLine,
  wholeQuantity,
} from './video-cost.ts'

type CountedVideo = {
  readonly billing: PriceSnapshot['billing']
  /** What is billed; undefined where the estimate is billed. */
  readonly quantity: DecimalQuantity | undefined
  /** The length of the video itself; undefined where nobody knows it. */
  readonly durationSeconds: string | undefined
  readonly requested: Pick<VideoPriceTier, 'videoInput'>
}

/**
 * The counts of a settled video: billed seconds, or the length of a video that is billed in another way; and billed tokens. An
 * unknown count is zero. Both are rounded half up, and the length is at most the longest that any model makes.
 */
export function countedVideo({ billing, quantity, durationSeconds, requested }: CountedVideo): CountedUsage {
  const billedTokens = billing === 'token' ? quantity : undefined
  const seconds = billing === 'per_second' ? quantity : parseQuantity(durationSeconds)
  const millisecondsMax = anyVideoQuantityMax('per_second', requested) * 1_000
  return countedUsage({
    outputTokens: billedTokens === undefined ? 0 : wholeCount(billedTokens, 1n),
    videoMilliseconds: seconds === undefined ? 0 : Math.min(wholeCount(seconds, 1_000n), millisecondsMax),
  })
}

function wholeCount({ numerator, denominator }: DecimalQuantity, perUnit: bigint): number {
  return Number(divideHalfUp(numerator * perUnit, denominator))
}

/**
 * A clip has one frame more than its nominal length, and upstreams may round its length up. Less than a second above the bound
 * is not reported as a fault, and not billed.
 */
const ROUNDED_SECONDS = 1

/** The amount to bill, and the facts that an operator should know. */
export type Settlement = {
  readonly amount: Microcredits
  /** The amount in its parts; undefined where the estimate is billed. */
  readonly line: PriceLine | undefined
  /** The usage that the amount is the price of. */
  readonly usage: CountedUsage
  /** Whether the reserved estimate is billed, because the upstream reported no credible usage. */
  readonly billedAtEstimate: boolean
  /** Whether a reported usage was refused: negative, no number, or too long. */
  readonly usageRefused: boolean
  /** Whether the usage exceeded the bound of the model, which is billed instead. */
  readonly usageAboveBound: boolean
  /** The amount above the reservation; it may take the balance below zero. */
  readonly overdraft: Microcredits
}

type SettlementInput = {
  readonly estimate: Microcredits
  readonly snapshot: PriceSnapshot
  /** The requested tier; the reported tier replaces it if a price row covers that. */
  readonly requested: VideoPriceTier
  readonly result: VideoResult
  /** `duration_secs`: the length of the video itself, for per-second billing without a billable length. */
  readonly durationSeconds: string | undefined
}

/**
 * Applies the billing formula with the job's stored prices to the reported usage, up to the bound of the model
 * (docs/decisions/0029).
 */
export function settleVideoCost(input: SettlementInput): Settlement {
  const { quantity, ...flags } = billedQuantity(input)
  const line = quantity === undefined ? undefined : lineAtReportedTier(input, quantity)
  const amount = line?.amount ?? input.estimate
  const overdraft = amount > input.estimate ? amount - input.estimate : 0n
  const usage = countedVideo({ ...input, billing: input.snapshot.billing, quantity })
  return {
    amount,
    line,
    usage,
    overdraft: overdraft as Microcredits,
    billedAtEstimate: quantity === undefined,
    ...flags,
  }
}

type BilledQuantity = Pick<Settlement, 'usageRefused' | 'usageAboveBound'> & {
  readonly quantity: DecimalQuantity | undefined
}

function billedQuantity({ snapshot, result, durationSeconds }: SettlementInput): BilledQuantity {
  const most = snapshot.quantityMax
  switch (snapshot.billing) {
    case 'per_request':
      return { quantity: wholeQuantity(1), usageRefused: false, usageAboveBound: false }
    case 'token':
      return firstBelievable([result.completionTokens], { most, faultAbove: most })
    case 'per_second':
      return firstBelievable([result.billableSeconds, durationSeconds], { most, faultAbove: most + ROUNDED_SECONDS })
    default:
      return snapshot.billing satisfies never
  }
}

type Bounds = { readonly most: number; readonly faultAbove: number }

/** The first usage above zero, up to the bound. An invalid value before it sets `usageRefused`. */
function firstBelievable(reported: readonly (string | undefined)[], { most, faultAbove }: Bounds): BilledQuantity {
  let usageRefused = false
  for (const value of reported) {
    const quantity = parseQuantity(value)
    if (quantity !== undefined && quantity.numerator > 0n) {
      const bounded = isAbove(quantity, most) ? wholeQuantity(most) : quantity
      return { quantity: bounded, usageRefused, usageAboveBound: isAbove(quantity, faultAbove) }
    }
    usageRefused ||= !isLeftOut(value, quantity)
  }
  return { quantity: undefined, usageRefused, usageAboveBound: false }
}

function isAbove({ numerator, denominator }: DecimalQuantity, most: number): boolean {
  return numerator > BigInt(most) * denominator
}

/** Zero and the empty string mean that the upstream left the number out. */
function isLeftOut(value: string | undefined, quantity: DecimalQuantity | undefined): boolean {
  return value === undefined || value === '' || quantity?.numerator === 0n
}

/** A reported tier without a price is billed as the requested tier. */
function lineAtReportedTier({ snapshot, requested, result }: SettlementInput, quantity: DecimalQuantity): PriceLine {
  const reported = {
    resolution: result.resolution ?? requested.resolution,
    audio: result.audio ?? requested.audio,
    videoInput: requested.videoInput,
  }
  try {
    return videoPriceLine(snapshot, reported, quantity)
  } catch (error) {
    if (error instanceof NoPriceError) {
      return videoPriceLine(snapshot, requested, quantity)
    }
    throw error
  }
}

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
    object: 'video.receipt' as const,
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

function entry(kind: 'reserve' | Resolved['kind'], { amount, at }: ReceiptRow, actual: Microcredits | null) {
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
