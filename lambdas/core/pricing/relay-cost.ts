import type { ChatModel, EmbeddingModel, ImageModel, TokenPrices } from '../catalogue/model.ts'
import { findImagePrice, type ImagePriceTier } from '../catalogue/price-rows.ts'
import {
  adviseOnOutput,
  affordableCount,
  atLeastOne,
  divideHalfUp,
  type Microcredits,
  parseCredits,
  ZERO,
} from '../money.ts'
import {
  believedUsage,
  checkTokenCounts,
  countedTokens,
  INPUT_PARTS,
  readPromptTokens,
  readTokenUsage,
  sumOfTokenCounts,
  type TokenCounts,
  tokenCounts,
  tokenFacts,
  tokensByLength,
} from './token-usage.ts'
import { type Billing, type CallEnd, type Charge, checkCount, countedUsage, type Priced } from './usage.ts'
import { NoPriceError } from './video-cost.ts'

/** The price of a million tokens of each part of a usage. */
type TokenRates = Readonly<Record<Exclude<keyof TokenCounts, 'isCorrected'>, Microcredits>>

/** A row of the configuration never changes, and every request of its model reads its rates several times. */
const knownRates = new WeakMap<TokenPrices, TokenRates>()

/** The rates of a price row: an explicit cache costs what another costs, a cache and a write what fresh input costs. */
export function tokenRates(prices: TokenPrices): TokenRates {
  const known = knownRates.get(prices)
  if (known !== undefined) {
    return known
  }
  const rates = readRates(prices)
  knownRates.set(prices, rates)
  return rates
}

function readRates(prices: TokenPrices): TokenRates {
  const input = prices.input
  const cached = prices.cached_input ?? input
  const write = prices.cache_write ?? input
  return {
    input: parseCredits(input),
    cachedInput: parseCredits(cached),
    cachedInputExplicit: parseCredits(prices.cached_input_explicit ?? cached),
    cacheWrite: parseCredits(write),
    cacheWrite1h: parseCredits(prices.cache_write_1h ?? write),
    output: parseCredits(prices.output),
  }
}

/** The highest rate of any input: what a reservation is made for, because all of a prompt may be written to a cache. */
export function highestInputRate(rates: TokenRates): Microcredits {
  return INPUT_PARTS.map((part) => rates[part]).reduce((highest, rate) => (rate > highest ? rate : highest))
}

/** Counts times rates. Divided by a million, this is an amount in microcredits: the unit is a millionth of one. */
export function ratedCounts(counts: TokenCounts, rates: TokenRates): bigint {
  return [...INPUT_PARTS, 'output' as const].reduce((sum, part) => sum + BigInt(counts[part]) * rates[part], 0n)
}

/** Token prices are per million tokens, so costs are summed in millionths of a microcredit and rounded once. */
const PICOCREDITS_PER_MICROCREDIT = 1_000_000n

/** Bounds of one call. */
export type TokenBounds = {
  readonly promptTokensMax: number
  readonly outputTokensMax: number
  readonly choices: number
}

/** The exact cost of a usage, in millionths of a microcredit: tokens times prices, or the fixed price of a request. */
function tokenPicocredits(model: ChatModel, counts: TokenCounts): bigint {
  const row = priceRow(model)
  return 'price' in row ? parseCredits(row.price) * PICOCREDITS_PER_MICROCREDIT : ratedCounts(counts, tokenRates(row))
}

/** An upper bound of the exact cost of a call: all of its input may have the highest rate. */
function tokenPicocreditsMax(model: ChatModel, bounds: TokenBounds): bigint {
  const row = priceRow(model)
  if ('price' in row) {
    return parseCredits(row.price) * PICOCREDITS_PER_MICROCREDIT
  }
  const rates = tokenRates(row)
  const { input, output } = countsMax(bounds)
  return BigInt(input) * highestInputRate(rates) + BigInt(output) * rates.output
}

/** The usage of a call at its bounds. No upstream has said yet what a cache has to do with it. */
function countsMax({ promptTokensMax, outputTokensMax, choices }: TokenBounds): TokenCounts {
  return tokenCounts({ input: promptTokensMax, output: outputTokensMax * choices })
}

/** Rounds an exact cost half up, to at least one microcredit if the model has a price. */
function roundedCost(model: ChatModel, picocredits: bigint): Microcredits {
  const cost = divideHalfUp(picocredits, PICOCREDITS_PER_MICROCREDIT) as Microcredits
  // Nearly every cost is above zero, and then the prices need not be read.
  return cost > ZERO ? cost : atLeastOne(cost, isFree(model))
}

/** The cost of a usage, rounded once, and the usage. */
export function tokenCharge(model: ChatModel, counts: TokenCounts): Charge {
  return { amount: roundedCost(model, tokenPicocredits(model, counts)), usage: countedTokens(counts) }
}

/** What to reserve before calls: an upper bound of their cost. */
export function tokenChargeMax(model: ChatModel, ...calls: readonly TokenBounds[]): Charge {
  return rounded(
    model,
    calls.map((bounds) => costMax(model, bounds)),
  )
}

/** Bounds of one call, and the likely tokens of its prompt. */
export type TokenCall = TokenBounds & {
  readonly promptTokensEstimate: number
  /** Tokens of images, which some upstreams bill on top of the context. */
  readonly imageTokensMax?: number
}

/** The field by which a request limits its output. */
type OutputLimit = {
  readonly name: string
  /** The request lacks the field, which a client who follows the advice of a 402 adds. */
  readonly isAdded?: boolean
}

/** The longest such field, with the white space around. No tokenizer makes more tokens than bytes. */
const ADDED_LIMIT_TOKENS = 40

/**
 * Bills calls by the tokens that their upstreams report.
 * @param calls all with the same number of completions, of the same length.
 */
export function tokenBilling(
  model: ChatModel,
  calls: readonly TokenCall[],
  { name, isAdded = false }: OutputLimit,
): Billing<TokenCounts> {
  const [first] = calls
  const most = first?.outputTokensMax ?? 0
  const hasImages = calls.some(({ imageTokensMax = 0 }) => imageTokensMax > 0)
  const hasSeveral = calls.length > 1 || (first?.choices ?? 1) > 1
  const usageMax = {
    input: model.context_tokens + (first?.imageTokensMax ?? 0),
    output: model.max_output_tokens * (first?.choices ?? 1),
  }
  const costOf = (outputTokensMax: number) => {
    const shortened = calls.map((call) => ({
      ...call,
      outputTokensMax,
      promptTokensMax: Math.min(usageMax.input, call.promptTokensMax + (isAdded ? ADDED_LIMIT_TOKENS : 0)),
    }))
    return tokenChargeMax(model, ...shortened).amount
  }
  return {
    estimate: () => tokenChargeMax(model, ...calls),
    advise: (available) => adviseOnOutput(available, { model, name, most, hasImages, hasSeveral, costOf }),
    usageOf: ({ usage, entries }) => believedUsage(readTokenUsage(usage), entries > 0),
    check: (usage) => checkTokenCounts(usage, usageMax),
    price: (ends) => priceTokenCalls(model, calls, ends),
  }
}

/**
 * What is billed for calls: the sum of their costs, rounded once. A call costs the usage that its upstream reported.
 * Without one, a reply that broke off or was abandoned costs the estimated prompt and its text, counted by its length, and any
 * other reply costs its share of the reservation, which is also the most that is estimated. A reply that broke off before any
 * text is free.
 * @param ends of the calls that were made, in the order of `calls`.
 * @returns undefined if nothing is billed.
 */
export function priceTokenCalls(
  model: ChatModel,
  calls: readonly TokenCall[],
  ends: readonly CallEnd<TokenCounts>[],
): Priced | undefined {
  const [only] = ends
  if (ends.length === 1 && only?.usage !== undefined) {
    return { charge: tokenCharge(model, only.usage), isEstimated: false, facts: tokenFacts(only.usage) }
  }
  const billed = calls.flatMap((call, index) => {
    const end = ends[index]
    return end === undefined || isWorthless(end) ? [] : [{ call, end }]
  })
  if (billed.length === 0) {
    return undefined
  }
  const costs = billed.map(({ call, end }) => callCost(model, call, end))
  const usages = ends.flatMap(({ usage }) => usage ?? [])
  return {
    charge: rounded(model, costs),
    isEstimated: billed.some(({ end }) => end.usage === undefined),
    facts: usages.length < ends.length ? undefined : tokenFacts(sumOfTokenCounts(usages)),
  }
}

function isWorthless({ how, usage, textBytes }: CallEnd<TokenCounts>): boolean {
  return how === 'broken' && usage === undefined && textBytes === 0
}

/** A usage, and its exact cost. */
type Cost = { readonly counts: TokenCounts; readonly picocredits: bigint }

function callCost(model: ChatModel, call: TokenCall, { how, usage, textBytes }: CallEnd<TokenCounts>): Cost {
  if (usage !== undefined) {
    return costOf(model, usage)
  }
  const most = costMax(model, call)
  if (how !== 'broken' && how !== 'abandoned') {
    return most
  }
  const output = tokensByLength(textBytes)
  const generated = costOf(model, tokenCounts({ input: call.promptTokensEstimate, output }))
  return generated.picocredits < most.picocredits ? generated : most
}

function costMax(model: ChatModel, bounds: TokenBounds): Cost {
  return { counts: countsMax(bounds), picocredits: tokenPicocreditsMax(model, bounds) }
}

function costOf(model: ChatModel, counts: TokenCounts): Cost {
  return { counts, picocredits: tokenPicocredits(model, counts) }
}

function rounded(model: ChatModel, costs: readonly Cost[]): Charge {
  const picocredits = costs.reduce((sum, cost) => sum + cost.picocredits, 0n)
  const counts = sumOfTokenCounts(costs.map((cost) => cost.counts))
  return { amount: roundedCost(model, picocredits), usage: countedTokens(counts) }
}

function priceRow({ id, prices: [row] }: ChatModel): ChatModel['prices'][number] {
  if (row === undefined) {
    throw new RangeError(`${id} has no price`)
  }
  return row
}

/** Whether every price of a model is zero. */
function isFree({ prices }: ChatModel): boolean {
  return prices.every((row) => Object.values(row).every((price) => price === undefined || parseCredits(price) === 0n))
}

/** Token prices are per million tokens. */
const TOKENS_PER_PRICE = 1_000_000n

/** The fields of an embedding model that billing needs. */
type EmbeddingPrices = Pick<EmbeddingModel, 'id' | 'prices'>

/**
 * Tokens times price, rounded half up once at the end, and at least one microcredit if the model has a price; or the fixed price
 * of a request.
 * @throws NoPriceError if the model has no price.
 */
export function embeddingCost({ id, prices }: EmbeddingPrices, tokens: number): Microcredits {
  const [row] = prices
  if (row === undefined) {
    throw new NoPriceError(`${id} has no price`)
  }
  if ('price' in row) {
    return parseCredits(row.price)
  }
  const price = parseCredits(row.input)
  return atLeastOne(divideHalfUp(BigInt(tokens) * price, TOKENS_PER_PRICE) as Microcredits, price === 0n)
}

/** The cost of a number of tokens, and the number. */
function embeddingCharge(model: EmbeddingPrices, tokens: number): Charge {
  return { amount: embeddingCost(model, tokens), usage: countedUsage({ inputTokens: tokens }) }
}

/**
 * What to reserve before the call: an upper bound of its cost.
 * @param tokenBounds the most tokens of each input, from `boundInputTokens`.
 */
export function embeddingChargeMax(model: EmbeddingPrices, tokenBounds: readonly number[]): Charge {
  return embeddingCharge(
    model,
    tokenBounds.reduce((sum, bound) => sum + bound, 0),
  )
}

/**
 * Bills an embedding by the tokens that the upstream reports, of which zero means none.
 * @param tokenBounds the most tokens of each input. @throws InvalidRequestError
 */
export function embeddingBilling(
  model: EmbeddingPrices & Pick<EmbeddingModel, 'max_input_tokens'>,
  inputs: number,
  tokenBounds: () => Promise<readonly number[]>,
): Billing<number> {
  const isPerRequest = model.prices.some((row) => 'price' in row)
  let estimate: Charge | undefined
  return {
    estimate: async () => {
      estimate = embeddingChargeMax(model, await tokenBounds())
      return estimate
    },
    // No single number would help.
    advise: () => 'send fewer or shorter inputs',
    usageOf: ({ usage }) => readPromptTokens(usage),
    check: (tokens) => checkCount('promptTokens', tokens, model.max_input_tokens * inputs),
    price: ([end]) => {
      if (end === undefined || estimate === undefined) {
        return undefined
      }
      const tokens = end.usage
      if (tokens === undefined || (tokens === 0 && !isPerRequest)) {
        return { charge: estimate, isEstimated: true }
      }
      return { charge: embeddingCharge(model, tokens), isEstimated: false, facts: { inputTokens: tokens || undefined } }
    },
  }
}

/** The fields of an image model that billing needs. */
type ImagePrices = Pick<ImageModel, 'id' | 'billing' | 'prices'>

/**
 * The price of the tier per image, or the fixed price of a request. Nothing is rounded.
 * @throws NoPriceError if no row matches the tier; the start refuses a configuration with such a gap.
 */
export function imageCost({ id, billing, prices }: ImagePrices, tier: ImagePriceTier, count: number): Microcredits {
  const row = findImagePrice(prices, tier)
  if (row === undefined) {
    throw new NoPriceError(`no price for ${id}, size ${tier.size}, quality ${tier.quality ?? 'none'}`)
  }
  const price = parseCredits(row.price)
  switch (billing) {
    case 'per_request':
      return price
    case 'per_image':
      return (price * BigInt(count)) as Microcredits
    default:
      return billing satisfies never
  }
}

/** A request for images, as far as its price depends on it. */
type PricedImages = ImagePriceTier & {
  readonly model: ImagePrices
  /** Number of images. */
  readonly count: number
}

/** What to reserve before the call: the price of all requested images. */
export function imageChargeMax(request: PricedImages): Charge {
  return imageCharge(request, request.count)
}

function imageCharge(request: PricedImages, images: number): Charge {
  return { amount: imageCost(request.model, request, images), usage: countedUsage({ images }) }
}

/** Bills a request by the images of its reply, never more than were asked for. */
export function imageBilling(request: PricedImages): Billing<number> {
  const estimate = () => imageChargeMax(request)
  return {
    estimate,
    advise: (available) => {
      const costOf = (count: number) => imageChargeMax({ ...request, count }).amount
      const count = affordableCount(available, { most: request.count, costOf })
      return count > 0 ? `set n to at most ${count}` : undefined
    },
    usageOf: ({ entries }) => entries,
    check: (images) => checkCount('images', images, request.count),
    price: ([end]) => {
      if (end === undefined) {
        return undefined
      }
      return end.usage === undefined
        ? { charge: estimate(), isEstimated: true }
        : { charge: imageCharge(request, end.usage), isEstimated: false }
    },
  }
}
