import type { EmbeddingModel } from '../catalogue/model.ts'
import { atLeastOne, divideHalfUp, type Microcredits, parseCredits } from '../money/money.ts'
import { type Charge, countedUsage } from './counted-usage.ts'
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

/** What is billed for an embedding response. */
export type EmbeddingSettlement = {
  readonly charge: Charge
  /** Whether the reserved estimate is billed, because the upstream reported no credible usage. */
  readonly billedAtEstimate: boolean
}

/** Applies the price to the usage that `readEmbeddingReply` found; undefined for none. */
export function settleEmbeddingCost(
  model: EmbeddingPrices,
  { estimate, promptTokens }: { estimate: Charge; promptTokens: number | undefined },
): EmbeddingSettlement {
  const isPerRequest = model.prices.some((row) => 'price' in row)
  if (promptTokens === undefined && !isPerRequest) {
    return { charge: estimate, billedAtEstimate: true }
  }
  return { charge: embeddingCharge(model, promptTokens ?? 0), billedAtEstimate: false }
}
