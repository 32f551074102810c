import type { ChatModel, EmbeddingModel } from '../catalogue/model.ts'
import type { CheckedUsage } from './counted-usage.ts'
import { inputTokensOf, type TokenCounts, tokenCounts } from './token-counts.ts'

/**
 * Upper bounds of the usage of a model, regardless of what its upstream reports. They are the limits of the model, not of the
 * request: a client that asks for less may be billed more than was reserved if its upstream ignores the limit or counts
 * reasoning on top.
 */
export type ChatUsageMax = { readonly input: number; readonly output: number }

/**
 * The bound of one chat call with this number of completions.
 * @param imageTokens of the request's images, which some upstreams bill on top of the context.
 */
export function chatUsageMax(
  { context_tokens, max_output_tokens }: Pick<ChatModel, 'context_tokens' | 'max_output_tokens'>,
  choices: number,
  imageTokens = 0,
): ChatUsageMax {
  return { input: context_tokens + imageTokens, output: max_output_tokens * choices }
}

/**
 * Reduces a reported usage to the bound. Where the input exceeds the bound, cached tokens are kept and fresh tokens
 * are cut. Returns the same object if nothing exceeds the bound.
 */
export function boundTokenCounts(counts: TokenCounts, most: ChatUsageMax): TokenCounts {
  let room = most.input
  const take = (tokens: number): number => {
    const taken = Math.min(tokens, room)
    room -= taken
    return taken
  }
  const bounded = tokenCounts({
    cachedInputExplicit: take(counts.cachedInputExplicit),
    cachedInput: take(counts.cachedInput),
    cacheWrite: take(counts.cacheWrite),
    cacheWrite1h: take(counts.cacheWrite1h),
    input: take(counts.input),
    output: Math.min(counts.output, most.output),
  })
  const isWithin =
    bounded.output === counts.output &&
    bounded.input === counts.input &&
    bounded.cacheWrite1h === counts.cacheWrite1h &&
    bounded.cacheWrite === counts.cacheWrite &&
    bounded.cachedInput === counts.cachedInput &&
    bounded.cachedInputExplicit === counts.cachedInputExplicit
  return isWithin ? counts : bounded
}

/** Reduces what one chat call reported to the bound ({@link chatUsageMax}). */
export function checkTokenCounts(counts: TokenCounts, most: ChatUsageMax): CheckedUsage<TokenCounts> {
  const usage = boundTokenCounts(counts, most)
  if (usage === counts && counts.isCorrected !== true) {
    return { usage, doubts: NO_DOUBTS }
  }
  const reported = { promptTokens: inputTokensOf(counts), completionTokens: counts.output }
  const doubts = [
    ...(usage === counts ? [] : [{ kind: 'above_bound', reported } as const]),
    ...(counts.isCorrected === true ? [{ kind: 'contradictory', reported } as const] : []),
  ]
  return { usage, doubts }
}

const NO_DOUBTS = [] as const

/** The bound of one embedding request. */
export function embeddingTokensMax(
  { max_input_tokens }: Pick<EmbeddingModel, 'max_input_tokens'>,
  inputs: number,
): number {
  return max_input_tokens * inputs
}
