import { describe, expect, it } from 'vitest'
import { countedUsage } from '#core/quota/counted-usage.ts'
import { usageView } from '#core/quota/usage-view.ts'

describe('usageView', () => {
  it('names each count as responses do, and shows lengths in seconds', () => {
    const counts = { inputTokens: 1, cachedInputTokens: 2, cacheWriteTokens: 3, outputTokens: 4, images: 5 }
    expect(usageView(countedUsage({ ...counts, videoMilliseconds: 5_040 }))).toEqual({
      input_tokens: 1,
      cached_input_tokens: 2,
      cache_write_tokens: 3,
      output_tokens: 4,
      images: 5,
      video_seconds: 5.04,
    })
  })
})
