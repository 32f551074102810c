import type { VideoModel, VideoPrice } from '../catalogue/model.ts'
import {
  DURATION_SECONDS,
  INPUT_VIDEO_SECONDS_MAX,
  RESOLUTIONS,
  type Resolution,
  type VideoJobRequest,
} from '../catalogue/parameters.ts'
import { findVideoPrice, type VideoPriceTier } from '../catalogue/price-rows.ts'
import { divideHalfUp, formatCredits, type Microcredits, parseCredits } from '../money.ts'

/** Token prices are per million tokens. */
const TOKENS_PER_PRICE = 1_000_000n

/** No price row covers a tier. The start refuses a configuration with such a gap, so only an upstream's report can cause this. */
export class NoPriceError extends Error {
  override readonly name = 'NoPriceError'
}

/** A non-negative decimal number as an exact fraction: `13.24` is 1324 / 100. */
export type DecimalQuantity = { readonly numerator: bigint; readonly denominator: bigint }

/** Leaves room for sums of floating-point seconds, which have up to seventeen decimals (13.239999999999998). */
const DECIMAL = /^(\d{1,15})(?:\.(\d{1,20}))?$/

/** Reads a plain decimal string; undefined for signs, exponents, `Infinity`, `NaN` and implausibly long strings. */
export function parseQuantity(text: string | undefined): DecimalQuantity | undefined {
  const match = DECIMAL.exec(text ?? '')
  if (match === null) {
    return undefined
  }
  const [, whole = '0', fraction = ''] = match
  return { numerator: BigInt(whole + fraction), denominator: 10n ** BigInt(fraction.length) }
}

/** An integer as a quantity. @throws RangeError for a number with a fraction. */
export function wholeQuantity(value: number): DecimalQuantity {
  return { numerator: BigInt(value), denominator: 1n }
}

/**
 * Quantity times price, rounded half up once at the end. `quantity` is completion tokens or seconds; billing per request
 * ignores it.
 * @throws NoPriceError if no row matches the tier.
 */
export function videoCost(snapshot: Prices, tier: VideoPriceTier, quantity: DecimalQuantity): Microcredits {
  const row = findVideoPrice(snapshot.prices, tier)
  if (row === undefined) {
    throw new NoPriceError(`no price for ${tier.resolution}, audio ${tier.audio}, video input ${tier.videoInput}`)
  }
  const price = parseCredits(row.price)
  switch (snapshot.billing) {
    case 'per_request':
      return price
    case 'per_second':
      return divideHalfUp(quantity.numerator * price, quantity.denominator) as Microcredits
    case 'token':
      return divideHalfUp(quantity.numerator * price, quantity.denominator * TOKENS_PER_PRICE) as Microcredits
    default:
      return snapshot.billing satisfies never
  }
}

/** Frames per second of every token-billed video. */
const FRAMES_PER_SECOND = 24

/** One token per this many pixels: `floor(width * height * frames / 1024)`, as replies of upstreams show. */
const PIXELS_PER_TOKEN = 1024

/**
 * The largest frame of a resolution in pixels, over all aspect ratios and both generations of family A (480P: 864x496 and
 * 992x432, 720P: 1504x640, 1080P: 1920x1088).
 */
const WIDEST_FRAME_PIXELS: Record<Resolution, number> = {
  '480P': 864 * 496,
  '720P': 1504 * 640,
  '1080P': 1920 * 1088,
}

/**
 * An upper bound of `usage.completion_tokens`, rounded up. A clip of s seconds has 24s + 1 frames; the full length of a
 * reference video is added.
 */
export function completionTokensMax(resolution: Resolution, outputSeconds: number, inputVideoSeconds: number): number {
  const frames = FRAMES_PER_SECOND * (outputSeconds + inputVideoSeconds) + 1
  return Math.ceil((WIDEST_FRAME_PIXELS[resolution] * frames) / PIXELS_PER_TOKEN)
}

type Billing = VideoModel['billing']

/**
 * The largest billable quantity of one job of a model: its longest video in its widest frame, regardless of the request, and
 * the longest reference video if the job has one.
 */
export function videoQuantityMax(model: VideoModel, { videoInput }: Pick<VideoPriceTier, 'videoInput'>): number {
  return longestQuantity(model.billing, {
    outputSeconds: model.durations.max,
    inputSeconds: videoInput ? model.input_video_seconds_max : 0,
    resolutions: model.resolutions,
  })
}

/** The same for a job whose model is unknown: the bound of all models with this billing. */
export function anyVideoQuantityMax(billing: Billing, { videoInput }: Pick<VideoPriceTier, 'videoInput'>): number {
  return longestQuantity(billing, {
    outputSeconds: DURATION_SECONDS.max,
    inputSeconds: videoInput ? INPUT_VIDEO_SECONDS_MAX : 0,
    resolutions: RESOLUTIONS,
  })
}

type Longest = {
  readonly outputSeconds: number
  readonly inputSeconds: number
  readonly resolutions: readonly Resolution[]
}

/** The largest quantity for these lengths and resolutions: tokens, seconds or one request. */
export function longestQuantity(billing: Billing, { outputSeconds, inputSeconds, resolutions }: Longest): number {
  switch (billing) {
    case 'token':
      return Math.max(...resolutions.map((each) => completionTokensMax(each, outputSeconds, inputSeconds)))
    case 'per_second':
      return outputSeconds + inputSeconds
    case 'per_request':
      return 1
    default:
      return billing satisfies never
  }
}

/**
 * All data of a model that billing needs, stored on the reservation when a job is created, so that a later change of the
 * configuration does not change the cost of a running job.
 */
export type PriceSnapshot = {
  readonly billing: VideoModel['billing']
  readonly prices: readonly VideoPrice[]
  /** Most tokens or seconds that are billed. */
  readonly quantityMax: number
}

/** What a price is computed from. */
export type Prices = Omit<PriceSnapshot, 'quantityMax'>

/** The current billing and prices of a model, and the bound of one job. */
export function snapshotPrices(model: VideoModel, tier: Pick<VideoPriceTier, 'videoInput'>): PriceSnapshot {
  return { billing: model.billing, prices: model.prices, quantityMax: videoQuantityMax(model, tier) }
}

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

/** The price tier of a request. */
export function requestedTier(request: VideoJobRequest): VideoPriceTier {
  return {
    resolution: request.resolution,
    audio: request.generate_audio,
    videoInput: request.video_urls.length > 0,
  }
}

/**
 * What to reserve for a job, with quantity and unit price: an upper bound of its cost, computed from the widest frame of the tier and
 * the longest input that the model takes.
 */
export function estimateVideoLine(request: VideoJobRequest, model: VideoModel): PriceLine {
  const quantity = longestQuantity(model.billing, {
    outputSeconds: model.output_follows_input ? model.durations.max : request.duration,
    inputSeconds: request.video_urls.length > 0 ? model.input_video_seconds_max : 0,
    resolutions: [request.resolution],
  })
  return videoPriceLine(model, requestedTier(request), wholeQuantity(quantity))
}
