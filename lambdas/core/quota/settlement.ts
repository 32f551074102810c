import type { VideoPriceTier } from '../catalogue/video-price.ts'
import type { VideoResult } from '../jobs/video-result.ts'
import type { Microcredits } from './money.ts'
import type { PriceSnapshot } from './price-snapshot.ts'
import { type DecimalQuantity, NoPriceError, parseQuantity, videoCost, wholeQuantity } from './video-cost.ts'

/** More tokens than this is no usage but a fault: hundreds of times the largest clip. */
const COMPLETION_TOKENS_MAX = 1_000_000_000n

/** More seconds than this is no usage but a fault: the longest edit bills 75. */
const BILLABLE_SECONDS_MAX = 3600n

/** What is billed, and what an operator should hear about it. */
export type Settlement = {
  readonly amount: Microcredits
  /** The upstream reported no usage, or none that can be believed: the locked estimate was billed. */
  readonly billedAtEstimate: boolean
  /** A usage was there but refused (negative, absurd, not a number), whatever was billed in its place. */
  readonly usageRefused: boolean
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

/** Applies the billing formula of the job's frozen prices to what the upstream reports. */
export function settleVideoCost(input: SettlementInput): Settlement {
  const { quantity, usageRefused } = billedQuantity(input)
  const amount = quantity === undefined ? input.estimate : costAtReportedTier(input, quantity)
  return outcome(input, amount, { billedAtEstimate: quantity === undefined, usageRefused })
}

function outcome(
  { estimate }: SettlementInput,
  amount: Microcredits,
  flags: Pick<Settlement, 'billedAtEstimate' | 'usageRefused'>,
): Settlement {
  const overdraft = amount > estimate ? amount - estimate : 0n
  return { amount, overdraft: overdraft as Microcredits, ...flags }
}

type BilledQuantity = { readonly quantity: DecimalQuantity | undefined; readonly usageRefused: boolean }

function billedQuantity({ snapshot, result, durationSeconds }: SettlementInput): BilledQuantity {
  switch (snapshot.billing) {
    case 'per_request':
      return { quantity: wholeQuantity(1), usageRefused: false }
    case 'token':
      return firstBelievable([result.completionTokens], COMPLETION_TOKENS_MAX)
    case 'per_second':
      return firstBelievable([result.billableSeconds, durationSeconds], BILLABLE_SECONDS_MAX)
    default:
      return snapshot.billing satisfies never
  }
}

/** The first usage between nothing and the bound. One that was passed over on the way there is a fault to hear about. */
function firstBelievable(texts: readonly (string | undefined)[], most: bigint): BilledQuantity {
  let usageRefused = false
  for (const text of texts) {
    const quantity = parseQuantity(text)
    if (quantity !== undefined && quantity.numerator > 0n && quantity.numerator <= most * quantity.denominator) {
      return { quantity, usageRefused }
    }
    usageRefused ||= !isLeftOut(text, quantity)
  }
  return { quantity: undefined, usageRefused }
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
