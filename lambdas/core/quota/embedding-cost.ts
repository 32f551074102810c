import type { EmbeddingModel } from '../catalogue/model.ts'
import { atLeastOne, divideHalfUp, type Microcredits, parseCredits } from '../money/money.ts'
import { NoPriceError } from './video-cost.ts'

/** Tokens that one token price buys. */
const TOKENS_PER_PRICE = 1_000_000n

/** What billing needs of an embedding model. */
type EmbeddingPrices = Pick<EmbeddingModel, 'id' | 'prices'>

/**
 * Tokens times price, rounded half up once at the end, a millionth at least where there is a price; or the fixed price of a
 * request, whatever its tokens.
 */
export function embeddingCost({ id, prices }: EmbeddingPrices, tokens: number): Microcredits {
  const [row] = prices
  if (row === undefined) {
    throw new NoPriceError(`${id} has no price`)
  }
  if ('price' in row) {
    return parseCredits(row.price)
  }
  const price = parseCredits(row.input_per_million)
  return atLeastOne(divideHalfUp(BigInt(tokens) * price, TOKENS_PER_PRICE) as Microcredits, price === 0n)
}

/**
 * What is locked before the call: an upper bound of what its usage can come to.
 * @param tokenBounds the most tokens that each input can have, as `boundInputTokens` gives them.
 */
export function embeddingCostMax(model: EmbeddingPrices, tokenBounds: readonly number[]): Microcredits {
  const tokens = tokenBounds.reduce((sum, bound) => sum + bound, 0)
  return embeddingCost(model, tokens)
}

/** What is billed for an embedding answer. */
export type EmbeddingSettlement = {
  readonly amount: Microcredits
  /** The upstream reported no usage, or none that can be believed: the locked estimate is billed. */
  readonly billedAtEstimate: boolean
}

/** Applies the price to the usage that `readEmbeddingReply` found; undefined for none. */
export function settleEmbeddingCost(
  model: EmbeddingPrices,
  { locked, promptTokens }: { locked: Microcredits; promptTokens: number | undefined },
): EmbeddingSettlement {
  const isPerRequest = model.prices.some((row) => 'price' in row)
  if (promptTokens === undefined && !isPerRequest) {
    return { amount: locked, billedAtEstimate: true }
  }
  return { amount: embeddingCost(model, promptTokens ?? 0), billedAtEstimate: false }
}
