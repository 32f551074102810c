import type { RateState } from '#core/limits.ts'

/**
 * What a key has left, in the headers that OpenAI's clients read (OpenAI API reference, "Rate limits"), with a duration
 * such as `8.64s`. No headers for a key without a limit.
 */
export function rateHeaders(state: RateState | undefined): Record<string, string> {
  if (state === undefined) {
    return {}
  }
  return {
    'x-ratelimit-limit-requests': String(state.limit),
    'x-ratelimit-remaining-requests': String(state.remaining),
    'x-ratelimit-reset-requests': `${state.resetMilliseconds / 1000}s`,
  }
}
