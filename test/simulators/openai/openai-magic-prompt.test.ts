import { describe, expect, it } from 'vitest'
import { parseOpenAiMagic } from '../../../lib/simulators/openai/openai-magic-prompt.ts'

describe('magic words of the OpenAI-style upstream', () => {
  it('are nothing in ordinary text', () => {
    expect(parseOpenAiMagic('an [ordinary] text with [1, 2] and [x:y]')).toEqual({
      prose: 'an [ordinary] text with [1, 2] and [x:y]',
      flags: new Set(),
      delayMilliseconds: 0,
      pauseMilliseconds: 0,
      bytesMin: 0,
    })
  })

  it('are taken out of the prose', () => {
    expect(parseOpenAiMagic('[crlf] say [gap:5]  hi [no-done]').prose).toBe('say hi')
  })

  it('may be combined', () => {
    const magic = parseOpenAiMagic('[slow:1.5][gap:20][silent:2][cut:4][long:7][huge:1][crlf][slices][retry-after:9]')
    expect(magic).toMatchObject({
      delayMilliseconds: 1500,
      gapMilliseconds: 20,
      pauseMilliseconds: 2000,
      cutAfter: 4,
      words: 7,
      bytesMin: 1_048_576,
      retryAfter: '9',
    })
    expect([...magic.flags]).toEqual(['crlf', 'slices'])
  })

  it('name an error with a kind or without', () => {
    expect(parseOpenAiMagic('[error:429:quota]').error).toEqual({ status: 429, kind: 'quota', isOnce: false })
    expect(parseOpenAiMagic('[error-once:500]').error).toEqual({ status: 500, kind: undefined, isOnce: true })
  })

  it.each(['[error:200]', '[error:600]', '[error:abc]', '[error]'])('ignore %s, which is no error', (word) => {
    expect(parseOpenAiMagic(word).error).toBeUndefined()
  })

  it('hold nothing longer than five minutes', () => {
    const magic = parseOpenAiMagic('[slow:86400][silent:86400][gap:86400000]')
    expect([magic.delayMilliseconds, magic.pauseMilliseconds, magic.gapMilliseconds]).toEqual([
      300_000, 300_000, 300_000,
    ])
  })

  it('take a JSON number only as odd usage', () => {
    expect(['-1', '1.50', '1e+9', '0'].map((number) => parseOpenAiMagic(`[odd-usage:${number}]`).oddUsage)).toEqual([
      '-1',
      '1.50',
      '1e+9',
      '0',
    ])
    expect(['01', 'many', '1.', '.5'].map((number) => parseOpenAiMagic(`[odd-usage:${number}]`).oddUsage)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  it('reset rather than hang, and forbid plainly unless told otherwise', () => {
    expect(parseOpenAiMagic('[hang][reset]').silence).toBe('reset')
    expect(parseOpenAiMagic('[policy]').policy).toBe('plain')
    expect(parseOpenAiMagic('[policy:nested]').policy).toBe('nested')
  })
})
