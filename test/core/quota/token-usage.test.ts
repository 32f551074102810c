import { describe, expect, it } from '@jest/globals'
import { believedUsage, readChatUsage } from '#core/quota/token-usage.ts'

describe('a usage of zeros', () => {
  const zero = { promptTokens: 0, completionTokens: 0 }

  it('is not believed beside an answer, and is beside none', () => {
    expect(
      believedUsage(readChatUsage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }), true),
    ).toBeUndefined()
    expect(believedUsage(readChatUsage({ total_tokens: 0, prompt_tokens: 0 }), false)).toStrictEqual(zero)
  })

  it('is not believed when its total says something else', () => {
    expect(readChatUsage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 15 })).toBeUndefined()
  })

  it('is believed of one part: a prompt may be answered with nothing', () => {
    const usage = readChatUsage({ prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 })
    expect(believedUsage(usage, true)).toStrictEqual({ promptTokens: 9, completionTokens: 0 })
  })
})
