import { type CountedUsage, countedUsage } from './counted-usage.ts'

/** The parts of the input, each with a price of its own. */
export const INPUT_PARTS = ['input', 'cachedInput', 'cachedInputExplicit', 'cacheWrite', 'cacheWrite1h'] as const

/** The tokens of one or more calls of a chat upstream, in parts that never overlap. Each part is a non-negative integer. */
export type TokenCounts = Readonly<Record<(typeof INPUT_PARTS)[number], number>> & {
  /** Reasoning included. */
  readonly output: number
  /** Present if the reported parts contradicted the reported whole, and were cut. */
  readonly isCorrected?: true
}

const NONE: TokenCounts = {
  input: 0,
  cachedInput: 0,
  cachedInputExplicit: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: 0,
}

/**
 * Counts with zero for every part that is left out: `input` is fresh, `cachedInput` and `cachedInputExplicit` were read from a
 * cache, `cacheWrite` and `cacheWrite1h` were written to one.
 */
export function tokenCounts(parts: Partial<TokenCounts>): TokenCounts {
  return { ...NONE, ...parts }
}

/** All input, whatever the cache had to do with it. */
export function inputTokensOf(counts: TokenCounts): number {
  return INPUT_PARTS.reduce((sum, part) => sum + counts[part], 0)
}

/** Whether not one token was counted. */
export function isNothing(counts: TokenCounts): boolean {
  return counts.output === 0 && inputTokensOf(counts) === 0
}

/** The sum of several counts; nothing for an empty list. */
export function sumOfTokenCounts(all: readonly TokenCounts[]): TokenCounts {
  return all.reduce(
    (sum, counts) => ({
      input: sum.input + counts.input,
      cachedInput: sum.cachedInput + counts.cachedInput,
      cachedInputExplicit: sum.cachedInputExplicit + counts.cachedInputExplicit,
      cacheWrite: sum.cacheWrite + counts.cacheWrite,
      cacheWrite1h: sum.cacheWrite1h + counts.cacheWrite1h,
      output: sum.output + counts.output,
    }),
    NONE,
  )
}

/** The counts as a settlement records them. */
export function countedTokens(counts: TokenCounts): CountedUsage {
  return countedUsage({
    inputTokens: counts.input,
    cachedInputTokens: counts.cachedInput + counts.cachedInputExplicit,
    cacheWriteTokens: counts.cacheWrite + counts.cacheWrite1h,
    outputTokens: counts.output,
  })
}

/** The tokens by the names that the log line and the metrics have for them: all input, and its parts that a cache had to do with. */
export function tokenFacts(counts: TokenCounts) {
  const { cachedInputTokens, cacheWriteTokens } = countedTokens(counts)
  return {
    inputTokens: inputTokensOf(counts),
    cachedInputTokens: cachedInputTokens || undefined,
    cacheWriteTokens: cacheWriteTokens || undefined,
    outputTokens: counts.output,
  }
}
