import { describe, expect, it } from 'vitest'
import { parseOpenAiMagic } from '../../../lib/simulators/openai/openai-magic-prompt.ts'
import { streamUsage, usageOf } from '../../../lib/simulators/openai/openai-usage.ts'

const COUNTS = { prompt: 5, completion: 3 }
const USAGE = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
const NONE = {}

describe('openai-usage: usageOf', () => {
  it.each([
    ['', COUNTS, USAGE],
    ['', { prompt: 5 }, { prompt_tokens: 5, total_tokens: 5 }],
    ['[usage-details]', COUNTS, { ...USAGE, prompt_tokens_details: { cached_tokens: 2, audio_tokens: 0 } }],
    ['[no-usage]', COUNTS, undefined],
  ])('of a prompt with %j and the tokens %j', (prompt, counts, expected) => {
    const usage = usageOf(counts, parseOpenAiMagic(prompt))
    expect(usage).toEqual(expected === undefined ? undefined : expect.objectContaining(expected))
  })

  it('is written as [odd-usage:N] says', () => {
    const usage = usageOf({ prompt: 5 }, parseOpenAiMagic('[odd-usage:7.0]'))
    expect(JSON.stringify(usage)).toBe('{"prompt_tokens":7.0,"total_tokens":7.0}')
  })
})

describe('openai-usage: streamUsage', () => {
  it.each([
    ['', true, { usage: null }, { usage: null }, { usage: USAGE }],
    ['', false, NONE, NONE, undefined],
    ['[usage-every]', true, { usage: USAGE }, { usage: USAGE }, { usage: USAGE }],
    ['[usage-finish]', true, { usage: null }, { usage: USAGE }, undefined],
    ['[no-usage]', true, NONE, NONE, undefined],
  ])('of a prompt with %j, asked for: %j', (prompt, isAsked, onEvent, onFinish, atEnd) => {
    const usage = streamUsage(isAsked, parseOpenAiMagic(prompt))
    expect(usage.onEvent(COUNTS)).toEqual(onEvent)
    expect(usage.onFinish(COUNTS)).toEqual(onFinish)
    expect(usage.atEnd(COUNTS)).toEqual(atEnd)
  })
})
