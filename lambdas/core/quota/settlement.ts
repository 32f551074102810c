import type { VideoPriceTier } from '../catalogue/video-price.ts'
import type { VideoResult } from '../jobs/video-result.ts'
import type { Microcredits } from '../money/money.ts'
import type { PriceSnapshot } from './price-snapshot.ts'
import { type DecimalQuantity, NoPriceError, parseQuantity, videoCost, wholeQuantity } from './video-cost.ts'
import { anyVideoQuantityMax } from './video-quantity.ts'

/**
 * A clip is a frame longer than it is said to be, and its length may come rounded up: less than a second above the bound is
 * no fault to hear about. It is not billed either.
 */
const ROUNDED_SECONDS = 1

/** What is billed, and what an operator should hear about it. */
export type Settlement = {
  readonly amount: Microcredits
  /** The upstream reported no usage, or none that can be believed: the locked estimate was billed. */
  readonly billedAtEstimate: boolean
  /** A usage was there but refused (negative, no number, too long for one), whatever was billed in its place. */
  readonly usageRefused: boolean
  /** The usage was above what the model can have used, which was billed in its place. */
  readonly usageAboveBound: boolean
  /** The formula's result exceeded the reservation; the difference may take the balance below zero. */
  readonly overdraft: Microcredits
}

type SettlementInput = {
  readonly estimate: Microcredits
  readonly snapshot: PriceSnapshot
  /** The tier asked for; what the upstream reports takes its place where a price row covers it. */
  readonly requested: VideoPriceTier
  readonly result: VideoResult
  /** `duration_secs`: the length of the video itself, for per-second billing without a billable length. */
  readonly durationSeconds: string | undefined
}

/**
 * Applies the billing formula of the job's frozen prices to what the upstream reports, as far as the model can have used it
 * (docs/decisions/0096).
 */
export function settleVideoCost(input: SettlementInput): Settlement {
  const { quantity, ...flags } = billedQuantity(input)
  const amount = quantity === undefined ? input.estimate : costAtReportedTier(input, quantity)
  const overdraft = amount > input.estimate ? amount - input.estimate : 0n
  return { amount, overdraft: overdraft as Microcredits, billedAtEstimate: quantity === undefined, ...flags }
}

type BilledQuantity = Pick<Settlement, 'usageRefused' | 'usageAboveBound'> & {
  readonly quantity: DecimalQuantity | undefined
}

function billedQuantity({ snapshot, requested, result, durationSeconds }: SettlementInput): BilledQuantity {
  const most = snapshot.quantityMax ?? anyVideoQuantityMax(snapshot.billing, requested)
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

/** The first usage above nothing, and no more than the bound. One that was passed over on the way there is a fault to hear about. */
function firstBelievable(texts: readonly (string | undefined)[], { most, faultAbove }: Bounds): BilledQuantity {
  let usageRefused = false
  for (const text of texts) {
    const quantity = parseQuantity(text)
    if (quantity !== undefined && quantity.numerator > 0n) {
      const bounded = isAbove(quantity, most) ? wholeQuantity(most) : quantity
      return { quantity: bounded, usageRefused, usageAboveBound: isAbove(quantity, faultAbove) }
    }
    usageRefused ||= !isLeftOut(text, quantity)
  }
  return { quantity: undefined, usageRefused, usageAboveBound: false }
}

function isAbove({ numerator, denominator }: DecimalQuantity, most: number): boolean {
  return numerator > BigInt(most) * denominator
}

/** Zero and empty text mean that the upstream left the number out. */
function isLeftOut(text: string | undefined, quantity: DecimalQuantity | undefined): boolean {
  return text === undefined || text === '' || quantity?.numerator === 0n
}

/** A tier that the model has no price for cannot be billed as such: the tier asked for counts. */
function costAtReportedTier({ snapshot, requested, result }: SettlementInput, quantity: DecimalQuantity): Microcredits {
  const reported = {
    resolution: result.resolution ?? requested.resolution,
    audio: result.audio ?? requested.audio,
    videoInput: requested.videoInput,
  }
  try {
    return videoCost(snapshot, reported, quantity)
  } catch (error) {
    if (error instanceof NoPriceError) {
      return videoCost(snapshot, requested, quantity)
    }
    throw error
  }
}
