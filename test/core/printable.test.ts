import { describe, expect, it } from 'vitest'
import { isPrintable, printable, printableJson, printableLines } from '#core/printable.ts'

describe('printable', () => {
  it.each([
    ['a control sequence', '\u001b[2J', '\\u{1b}[2J'],
    ['a control sequence of one byte', '\u009b2J', '\\u{9b}2J'],
    ['a carriage return, which would overwrite the line', 'a\rb', 'a\\u{d}b'],
    ['a delete', '\u007f', '\\u{7f}'],
    ['a line separator of Unicode', 'a\u2028b', 'a\\u{2028}b'],
    ['a mark that reverses the order of letters', 'a\u202eb', 'a\\u{202e}b'],
  ])('escapes %s', (_, text, shown) => {
    expect(printable(text)).toBe(shown)
    expect(isPrintable(text)).toBe(false)
    expect(isPrintable(shown)).toBe(true)
  })

  it.each(['plain', 'Zürich 東京', 'שלום', '👩‍🚀'])('leaves %j as it is', (text) => {
    expect(printable(text)).toBe(text)
    expect(isPrintable(text)).toBe(true)
  })

  it('printableJson escapes the same, and a program reads the exact value', () => {
    const value = { 'a\u009b': ['\u001b[2J\u202e', '\n\u007f', '東京'] }
    expect(isPrintable(printableJson(value))).toBe(true)
    expect(JSON.parse(printableJson(value))).toEqual(value)
  })

  it('printableLines keeps lines apart, and escapes each', () => {
    expect(printableLines('a\n\u001bb\n')).toBe('a\n\\u{1b}b\n')
  })
})
