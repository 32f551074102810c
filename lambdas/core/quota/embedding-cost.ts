import type { EmbeddingModel } from '../catalogue/model.ts'
import { atLeastOne, divideHalfUp, type Microcredits, parseCredits } from '../money/money.ts'
import { NoPriceError } from './video-cost.ts'

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
  const price = parseCredits(row.input_per_million)
  return atLeastOne(divideHalfUp(BigInt(tokens) * price, TOKENS_PER_PRICE) as Microcredits, price === 0n)
}

/**
 * The amount to reserve before the call: an upper bound of its cost.
 * @param tokenBounds the most tokens of each input, from `boundInputTokens`.
 */
export function embeddingCostMax(model: EmbeddingPrices, tokenBounds: readonly number[]): Microcredits {
  const tokens = tokenBounds.reduce((sum, bound) => sum + bound, 0)
  return embeddingCost(model, tokens)
}

/** What is billed for an embedding answer. */
export type EmbeddingSettlement = {
  readonly amount: Microcredits
  /** Whether the reserved estimate is billed, because the upstream reported no credible usage. */
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
