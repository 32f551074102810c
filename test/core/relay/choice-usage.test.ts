import { describe, expect, it } from 'vitest'
import { usageOfChoice, usageOfChoiceJson } from '#core/relay/choice-usage.ts'

describe('the usage in a choice', () => {
  it('is that of the first choice', () => {
    const choices = [
      { index: 0, usage: { total_tokens: 3 } },
      { index: 1, usage: { total_tokens: 4 } },
    ]
    expect(usageOfChoice(choices)).toStrictEqual({ total_tokens: 3 })
    expect(usageOfChoiceJson(JSON.stringify(choices))).toStrictEqual({ total_tokens: 3 })
  })

  it.each([undefined, null, {}, [], ['usage'], [null], [{ index: 0 }]])('is undefined for %j', (choices) => {
    expect(usageOfChoice(choices)).toBeUndefined()
    expect(usageOfChoiceJson(JSON.stringify(choices) ?? '')).toBeUndefined()
  })

  it.each(['[{"usage"', '{"usage":1}', '[{"delta":{"content":"\\"usage\\""}}]'])('is undefined for %s', (json) => {
    expect(usageOfChoiceJson(json)).toBeUndefined()
  })
})
