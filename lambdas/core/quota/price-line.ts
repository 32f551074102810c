import type { VideoPrice } from '../catalogue/model.ts'
import { findVideoPrice, type VideoPriceTier } from '../catalogue/price-rows.ts'
import { formatCredits, type Microcredits, parseCredits } from '../money/money.ts'
import type { Prices } from './price-snapshot.ts'
import { type DecimalQuantity, videoCost } from './video-cost.ts'

/** One line of a bill: quantity times unit price, rounded half up, is the amount. */
export type PriceLine = {
  /** What is billed, such as `video, 720P, with audio`: the tier of the price row. */
  readonly what: string
  /** An exact decimal. */
  readonly quantity: string
  readonly unit: 'second' | 'million tokens' | 'request'
  /** Credits, as a decimal string. */
  readonly unitPrice: string
  readonly amount: Microcredits
}

const UNITS = { per_second: 'second', token: 'million tokens', per_request: 'request' } as const

/** Decimal places between a token and the unit of its price. */
const TOKEN_PLACES = 6

/**
 * The line of a video: what {@link videoCost} computes, in its parts.
 * @throws NoPriceError if no row matches the tier.
 */
export function videoPriceLine(snapshot: Prices, tier: VideoPriceTier, quantity: DecimalQuantity): PriceLine {
  const amount = videoCost(snapshot, tier, quantity)
  const row = findVideoPrice(snapshot.prices, tier)
  return {
    what: ['video', ...(row === undefined ? [] : namesOf(row))].join(', '),
    quantity: quantityText(snapshot.billing, quantity),
    unit: UNITS[snapshot.billing],
    unitPrice: formatCredits(parseCredits(row?.price ?? '0')),
    amount,
  }
}

/** The parts of a tier that the price depends on. */
function namesOf({ resolution, audio, video_input }: VideoPrice): string[] {
  return [
    ...(resolution === 'any' ? [] : [resolution]),
    ...(audio === 'any' ? [] : [audio ? 'with audio' : 'without audio']),
    ...(video_input === 'any' ? [] : [video_input ? 'with video input' : 'without video input']),
  ]
}

function quantityText(billing: Prices['billing'], { numerator, denominator }: DecimalQuantity): string {
  if (billing === 'per_request') {
    return '1'
  }
  // The denominator of a parsed decimal is a power of ten.
  const places = denominator.toString().length - 1 + (billing === 'token' ? TOKEN_PLACES : 0)
  const digits = numerator.toString().padStart(places + 1, '0')
  const fraction = digits.slice(digits.length - places).replace(/0+$/, '')
  return `${digits.slice(0, digits.length - places)}${places === 0 || fraction === '' ? '' : `.${fraction}`}`
}

/** A line as responses show it. */
export function priceLineView({ what, quantity, unit, unitPrice, amount }: PriceLine) {
  return { what, quantity, unit, unit_price: unitPrice, amount: formatCredits(amount) }
}
