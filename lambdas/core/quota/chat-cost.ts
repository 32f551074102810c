import type { ChatModel } from '../catalogue/model.ts'
import { atLeastOne, divideHalfUp, type Microcredits, parseCredits } from '../money/money.ts'
import { tokensByLength } from '../parameters/tokens-by-length.ts'
import { type Charge, countedUsage } from './counted-usage.ts'
import type { ChatUsage } from './token-usage.ts'

/** Token prices are per million tokens. */
const TOKENS_PER_PRICE = 1_000_000n

/** Bounds of one chat call. */
export type ChatBounds = {
  readonly promptTokensMax: number
  readonly outputTokensMax: number
  readonly choices: number
}

/**
 * Tokens times prices, rounded half up once at the end, and at least one microcredit if the model has a price; or the fixed
 * price of a request.
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

/** The cost of a usage, and the usage. */
export function chatCharge(model: ChatModel, usage: ChatUsage): Charge {
  const { promptTokens, completionTokens } = usage
  return {
    amount: chatCost(model, usage),
    usage: countedUsage({ inputTokens: promptTokens, outputTokens: completionTokens }),
  }
}

/** What to reserve before a chat call: an upper bound of its cost. */
export function chatChargeMax(model: ChatModel, bounds: ChatBounds): Charge {
  return chatCharge(model, {
    promptTokens: bounds.promptTokensMax,
    completionTokens: bounds.outputTokensMax * bounds.choices,
  })
}

/** Whether every price of a model is zero. */
function isFree({ prices }: ChatModel): boolean {
  return prices.every((row) => Object.values(row).every((price) => parseCredits(price) === 0n))
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
  const charge = chatCharge(model, { promptTokens, completionTokens: tokensByLength(relayedTextBytes) })
  return charge.amount < estimate.amount ? charge : estimate
}
