import type { CountedUsage } from './counted-usage.ts'

/** Usage as responses and exports show it. */
export type UsageView = {
  readonly input_tokens: number
  readonly cached_input_tokens: number
  readonly cache_write_tokens: number
  readonly output_tokens: number
  readonly video_seconds: number
  readonly images: number
}

/** Names usage as responses do; lengths in seconds. */
export function usageView(usage: CountedUsage): UsageView {
  return {
    input_tokens: usage.inputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    output_tokens: usage.outputTokens,
    video_seconds: usage.videoMilliseconds / 1_000,
    images: usage.images,
  }
}
