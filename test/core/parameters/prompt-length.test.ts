import { describe, expect, it } from 'vitest'
import { PROMPT_UNITS_MAX, promptUnits } from '#core/parameters/prompt-length.ts'

describe('promptUnits', () => {
  it.each([
    ['', 0],
    ['a paper city', 12],
    ['é', 1],
    ['e\u0301', 2],
    ['纸城', 4],
    ['〇々', 4],
    ['𠀀', 2],
    ['ひらがなカタカナー', 18],
    ['ｱｲｳﾞ', 8],
    ['한국어', 6],
    ['ㄱ', 2],
    ['ＡＢ！￥', 8],
    ['\u3000', 2],
    ['。', 1],
    ['жизнь', 5],
    ['😀', 1],
    ['👩‍👩‍👧', 5],
    ['\ud800', 1],
    ['a\n b', 4],
    ['a 纸 b', 6],
  ])('counts %j as %d', (text, units) => {
    expect(promptUnits(text)).toBe(units)
  })

  it('lets 2500 Han characters or 5000 others fit exactly', () => {
    expect(promptUnits('纸'.repeat(2500))).toBe(PROMPT_UNITS_MAX)
    expect(promptUnits('a'.repeat(5000))).toBe(PROMPT_UNITS_MAX)
    expect(promptUnits(`${'纸'.repeat(2499)}ab`)).toBe(PROMPT_UNITS_MAX)
  })

  it('keeps no state between calls', () => {
    expect([promptUnits('纸'), promptUnits('纸')]).toStrictEqual([2, 2])
  })
})
