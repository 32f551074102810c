import { describe, expect, it } from 'vitest'
import { decimalText, firstDecimal, memberAt, parseJson, taskIdText } from '#adapters/providers/video/json-reading.ts'

describe('memberAt', () => {
  it('reads own members only', () => {
    expect(memberAt(parseJson('{"a":[{"b":1}]}'), 'a', 0, 'b')).toBe(1)
    expect(memberAt({}, 'constructor')).toBeUndefined()
    expect(memberAt(parseJson('{"__proto__":{"url":"x"}}'), 'url')).toBeUndefined()
    expect(memberAt([1], 'length')).toBeUndefined()
    expect(memberAt('text', 0)).toBeUndefined()
  })
})

describe('decimalText', () => {
  it.each([
    [5, '5'],
    [0, '0'],
    [13.24, '13.24'],
    ['5.0', '5.0'],
    ['007', '007'],
    [0.1 + 0.2, '0.3'],
    [13.239999999999998, '13.24'],
    [5 / 3, '1.666666667'],
    ['9.99999999999', '10'],
  ])('reads %j as %j', (value, text) => {
    expect(decimalText(value)).toBe(text)
  })

  it.each([
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e21,
    1e-7,
    '',
    ' 5',
    '5s',
    '1e3',
    '+5',
    '٣',
    null,
    true,
    [5],
    {},
  ])('is undefined for %p', (value) => {
    expect(decimalText(value)).toBeUndefined()
  })

  it('prefers a number above zero', () => {
    expect(firstDecimal([undefined, 0, '3', 4])).toBe('3')
    expect(firstDecimal([null, '0', 0])).toBe('0')
    expect(firstDecimal([])).toBeUndefined()
  })
})

describe('taskIdText', () => {
  it('takes what can be put into a path again', () => {
    expect(taskIdText('cgt-2026_a/b?c')).toBe('cgt-2026_a/b?c')
    expect(taskIdText(7)).toBe('7')
  })

  it.each(['', '.', '..', 'a b', 'a\n', '\ud800', 'x'.repeat(257), 2 ** 60, 1.5, null, {}, []])(
    'refuses %j',
    (value) => {
      expect(taskIdText(value)).toBeUndefined()
    },
  )
})
