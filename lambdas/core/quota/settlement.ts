import type { VideoPriceTier } from '../catalogue/price-rows.ts'
import type { VideoResult } from '../jobs/video-result.ts'
import type { Microcredits } from '../money/money.ts'
import type { CountedUsage } from './counted-usage.ts'
import { countedVideo } from './counted-video.ts'
import { type PriceLine, videoPriceLine } from './price-line.ts'
import type { PriceSnapshot } from './price-snapshot.ts'
import { type DecimalQuantity, NoPriceError, parseQuantity, wholeQuantity } from './video-cost.ts'

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
