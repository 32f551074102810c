import type { ChatModel } from '../catalogue/model.ts'
import { atLeastOne, divideHalfUp, type Microcredits, parseCredits, ZERO } from '../money/money.ts'
import { tokensByLength } from '../parameters/tokens-by-length.ts'
import type { Charge } from './counted-usage.ts'
import { countedTokens, type TokenCounts, tokenCounts } from './token-counts.ts'
import { highestInputRate, ratedCounts, tokenRates } from './token-rates.ts'

/** Token prices are per million tokens, so costs are summed in millionths of a microcredit and rounded once. */
const PICOCREDITS_PER_MICROCREDIT = 1_000_000n

/** Bounds of one chat call. */
export type ChatBounds = {
  readonly promptTokensMax: number
  readonly outputTokensMax: number
  readonly choices: number
}

/** The exact cost of a usage, in millionths of a microcredit: tokens times prices, or the fixed price of a request. */
export function chatPicocredits(model: ChatModel, counts: TokenCounts): bigint {
  const row = priceRow(model)
  return 'price' in row ? parseCredits(row.price) * PICOCREDITS_PER_MICROCREDIT : ratedCounts(counts, tokenRates(row))
}

/** An upper bound of the exact cost of a call: all of its input may have the highest rate. */
export function chatPicocreditsMax(model: ChatModel, bounds: ChatBounds): bigint {
  const row = priceRow(model)
  if ('price' in row) {
    return parseCredits(row.price) * PICOCREDITS_PER_MICROCREDIT
  }
  const rates = tokenRates(row)
  const { input, output } = countsMax(bounds)
  return BigInt(input) * highestInputRate(rates) + BigInt(output) * rates.output
}

/** The usage of a call at its bounds. No upstream has said yet what a cache has to do with it. */
export function countsMax({ promptTokensMax, outputTokensMax, choices }: ChatBounds): TokenCounts {
  return tokenCounts({ input: promptTokensMax, output: outputTokensMax * choices })
}

/** Rounds an exact cost half up, to at least one microcredit if the model has a price. */
export function roundedCost(model: ChatModel, picocredits: bigint): Microcredits {
  const cost = divideHalfUp(picocredits, PICOCREDITS_PER_MICROCREDIT) as Microcredits
  // Nearly every cost is above zero, and then the prices need not be read.
  return cost > ZERO ? cost : atLeastOne(cost, isFree(model))
}

/** The cost of a usage, rounded once, and the usage. */
export function chatCharge(model: ChatModel, counts: TokenCounts): Charge {
  return { amount: roundedCost(model, chatPicocredits(model, counts)), usage: countedTokens(counts) }
}

/** What to reserve before a chat call: an upper bound of its cost. */
export function chatChargeMax(model: ChatModel, bounds: ChatBounds): Charge {
  return { amount: roundedCost(model, chatPicocreditsMax(model, bounds)), usage: countedTokens(countsMax(bounds)) }
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

type BrokenStream = {
  readonly promptTokens: number
  readonly relayedTextBytes: number
  /** What was reserved. */
  readonly estimate: Charge
}

/**
 * What is billed for a stream that its upstream broke off without reporting usage: the relayed text, counted by its length, and
 * the estimated prompt; never more than was reserved.
 */
export function brokenStreamCharge(
  model: ChatModel,
  { promptTokens, relayedTextBytes, estimate }: BrokenStream,
): Charge {
  const charge = chatCharge(model, tokenCounts({ input: promptTokens, output: tokensByLength(relayedTextBytes) }))
  return charge.amount < estimate.amount ? charge : estimate
}
