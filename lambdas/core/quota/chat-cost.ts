import type { ChatModel } from '../catalogue/model.ts'
import { atLeastOne, divideHalfUp, type Microcredits, parseCredits, ZERO } from '../money/money.ts'
import { tokensByLength } from '../parameters/tokens-by-length.ts'
import type { CallEnd, Charge, Priced } from './counted-usage.ts'
import { countedTokens, sumOfTokenCounts, type TokenCounts, tokenCounts, tokenFacts } from './token-counts.ts'
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
function chatPicocredits(model: ChatModel, counts: TokenCounts): bigint {
  const row = priceRow(model)
  return 'price' in row ? parseCredits(row.price) * PICOCREDITS_PER_MICROCREDIT : ratedCounts(counts, tokenRates(row))
}

/** An upper bound of the exact cost of a call: all of its input may have the highest rate. */
function chatPicocreditsMax(model: ChatModel, bounds: ChatBounds): bigint {
  const row = priceRow(model)
  if ('price' in row) {
    return parseCredits(row.price) * PICOCREDITS_PER_MICROCREDIT
  }
  const rates = tokenRates(row)
  const { input, output } = countsMax(bounds)
  return BigInt(input) * highestInputRate(rates) + BigInt(output) * rates.output
}

/** The usage of a call at its bounds. No upstream has said yet what a cache has to do with it. */
function countsMax({ promptTokensMax, outputTokensMax, choices }: ChatBounds): TokenCounts {
  return tokenCounts({ input: promptTokensMax, output: outputTokensMax * choices })
}

/** Rounds an exact cost half up, to at least one microcredit if the model has a price. */
function roundedCost(model: ChatModel, picocredits: bigint): Microcredits {
  const cost = divideHalfUp(picocredits, PICOCREDITS_PER_MICROCREDIT) as Microcredits
  // Nearly every cost is above zero, and then the prices need not be read.
  return cost > ZERO ? cost : atLeastOne(cost, isFree(model))
}

/** The cost of a usage, rounded once, and the usage. */
export function chatCharge(model: ChatModel, counts: TokenCounts): Charge {
  return { amount: roundedCost(model, chatPicocredits(model, counts)), usage: countedTokens(counts) }
}

/** What to reserve before chat calls: an upper bound of their cost. */
export function chatChargeMax(model: ChatModel, ...calls: readonly ChatBounds[]): Charge {
  return rounded(
    model,
    calls.map((bounds) => costMax(model, bounds)),
  )
}

/** Bounds of one chat call, and the likely tokens of its prompt. */
export type ChatCall = ChatBounds & { readonly promptTokensEstimate: number }

/**
 * What is billed for chat calls: the sum of their costs, rounded once. A call costs the usage that its upstream reported.
 * Without one, a reply that broke off or was abandoned costs the estimated prompt and its text, counted by its length, and any
 * other reply costs its share of the reservation, which is also the most that is estimated. A reply that broke off before any
 * text is free.
 * @param ends of the calls that were made, in the order of `calls`.
 * @returns undefined if nothing is billed.
 */
export function priceChatCalls(
  model: ChatModel,
  calls: readonly ChatCall[],
  ends: readonly CallEnd<TokenCounts>[],
): Priced | undefined {
  const [only] = ends
  if (ends.length === 1 && only?.usage !== undefined) {
    return { charge: chatCharge(model, only.usage), isEstimated: false, facts: tokenFacts(only.usage) }
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

function callCost(model: ChatModel, call: ChatCall, { how, usage, textBytes }: CallEnd<TokenCounts>): Cost {
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

function costMax(model: ChatModel, bounds: ChatBounds): Cost {
  return { counts: countsMax(bounds), picocredits: chatPicocreditsMax(model, bounds) }
}

function costOf(model: ChatModel, counts: TokenCounts): Cost {
  return { counts, picocredits: chatPicocredits(model, counts) }
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
