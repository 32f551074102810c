import type { ChatModel } from '../catalogue/model.ts'
import { atLeastOne, divideHalfUp, type Microcredits, parseCredits } from '../money/money.ts'
import { tokensByLength } from '../parameters/tokens-by-length.ts'
import type { ChatUsage } from './token-usage.ts'

/** Tokens that one token price buys. */
const TOKENS_PER_PRICE = 1_000_000n

/** What bounds the cost of one chat call. */
export type ChatBounds = {
  readonly promptTokensMax: number
  readonly outputTokensMax: number
  readonly choices: number
}

/**
 * Tokens times prices, rounded half up once at the end, a millionth at least where there is a price; or the fixed price of
 * a request.
 */
export function chatCost(model: ChatModel, { promptTokens, completionTokens }: ChatUsage): Microcredits {
  const [row] = model.prices
  if (row === undefined) {
    throw new RangeError(`${model.id} has no price`)
  }
  if ('price' in row) {
    return parseCredits(row.price)
  }
  const input = BigInt(promptTokens) * parseCredits(row.input_per_million)
  const output = BigInt(completionTokens) * parseCredits(row.output_per_million)
  return atLeastOne(divideHalfUp(input + output, TOKENS_PER_PRICE) as Microcredits, isFree(model))
}

/** What is locked before a chat call: an upper bound of what its usage can come to. */
export function chatCostMax(model: ChatModel, bounds: ChatBounds): Microcredits {
  return chatCost(model, {
    promptTokens: bounds.promptTokensMax,
    completionTokens: bounds.outputTokensMax * bounds.choices,
  })
}

/** Whether every price of a model is nothing. */
function isFree({ prices }: ChatModel): boolean {
  return prices.every((row) => Object.values(row).every((price) => parseCredits(price) === 0n))
}

type BrokenStream = {
  readonly promptTokens: number
  readonly relayedTextBytes: number
  readonly locked: Microcredits
}

/**
 * What is billed for a stream that its upstream broke off without a word about usage: the part that was relayed, counted
 * by its length, and what its prompt probably came to; never more than was locked.
 */
export function brokenStreamCost(
  model: ChatModel,
  { promptTokens, relayedTextBytes, locked }: BrokenStream,
): Microcredits {
  const cost = chatCost(model, { promptTokens, completionTokens: tokensByLength(relayedTextBytes) })
  return cost < locked ? cost : locked
}
