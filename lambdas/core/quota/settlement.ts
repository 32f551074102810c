import type { VideoPriceTier } from '../catalogue/video-price.ts'
import type { VideoResult } from '../jobs/video-result.ts'
import type { Microcredits } from './money.ts'
import type { PriceSnapshot } from './price-snapshot.ts'
import { type DecimalQuantity, NoPriceError, parseQuantity, videoCost, wholeQuantity } from './video-cost.ts'

/** More tokens than this is no usage but a fault: a thousand times the largest clip. */
const COMPLETION_TOKENS_MAX = 1_000_000_000n

/** More seconds than this is no usage but a fault: the longest edit bills 75. */
const BILLABLE_SECONDS_MAX = 3600n

/** What is billed, and what an operator should hear about it. */
export type Settlement = {
  readonly amount: Microcredits
  /** The upstream reported no usage, or none that can be believed: the locked estimate was billed. */
  readonly billedAtEstimate: boolean
  /** The upstream's usage was there but refused (negative, absurd, not a number). */
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
  const { text, quantity } = billedQuantity(input)
  if (quantity === undefined) {
    return outcome(input, input.estimate, { billedAtEstimate: true, usageRefused: text !== undefined && !isZero(text) })
  }
  return outcome(input, costAtReportedTier(input, quantity), { billedAtEstimate: false, usageRefused: false })
}

function outcome(
  { estimate }: SettlementInput,
  amount: Microcredits,
  flags: Pick<Settlement, 'billedAtEstimate' | 'usageRefused'>,
): Settlement {
  const overdraft = amount > estimate ? amount - estimate : 0n
  return { amount, overdraft: overdraft as Microcredits, ...flags }
}

function billedQuantity(input: SettlementInput): { text: string | undefined; quantity: DecimalQuantity | undefined } {
  switch (input.snapshot.billing) {
    case 'per_request':
      return { text: undefined, quantity: wholeQuantity(1) }
    case 'token': {
      const text = input.result.completionTokens
      return { text, quantity: believable(text, COMPLETION_TOKENS_MAX) }
    }
    case 'per_second': {
      const text = input.result.billableSeconds
      const quantity = believable(text, BILLABLE_SECONDS_MAX) ?? believable(input.durationSeconds, BILLABLE_SECONDS_MAX)
      return { text, quantity }
    }
    default:
      return input.snapshot.billing satisfies never
  }
}

/** Usage between nothing and the bound; zero means that the upstream left it out. */
function believable(text: string | undefined, most: bigint): DecimalQuantity | undefined {
  const quantity = parseQuantity(text)
  if (quantity === undefined || quantity.numerator === 0n || quantity.numerator > most * quantity.denominator) {
    return undefined
  }
  return quantity
}

function isZero(text: string): boolean {
  return parseQuantity(text)?.numerator === 0n
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
