import { describe, expect, it } from 'vitest'
import { JsonScanner, MORE, NAME, OPEN } from '#core/json/json-scanner.ts'

const WORDS = ['more', 'name', 'scalar', 'open', 'close']

/** The tokens of a text that is given in pieces of so many characters. */
function tokensOf(text: string, size = text.length): [string, string | undefined][] {
  const scanner = new JsonScanner()
  const found: [string, string | undefined][] = []
  for (let at = 0; at < text.length; at += size) {
    scanner.push(text.slice(at, at + size))
    for (let token = scanner.next(); token !== MORE; token = scanner.next()) {
      found.push([WORDS[token] ?? '', token === NAME ? scanner.name : scanner.text])
    }
  }
  return found
}

describe('JsonScanner', () => {
  it.each([1, 2, 3, 100])('finds every token with its text, in pieces of %d characters', (size) => {
    expect(tokensOf(' { "a" : [1, "]"] , "\\u0062":{"c":"}"},"d":-1.5e3 } ', size)).toStrictEqual([
      ['open', '{'],
      ['name', 'a'],
      ['open', '['],
      ['scalar', '1'],
      ['scalar', '"]"'],
      ['close', ']'],
      ['name', 'b'],
      ['open', '{'],
      ['name', 'c'],
      ['scalar', '"}"'],
      ['close', '}'],
      ['name', 'd'],
      ['scalar', '-1.5e3'],
      ['close', '}'],
    ])
  })

  it.each(['{"a\\q":1}', '{"\\u00":1}', '{a"\\":1}', '[1,', '{"a":', ']]', '{"a" 1,,}'])(
    'ends for %s, which is not JSON',
    (text) => {
      expect(tokensOf(text, 1).length).toBeLessThan(10)
    },
  )

  it('skips an object or list up to its end, and tells whether it has numbers alone', () => {
    const skip = (text: string) => {
      const scanner = new JsonScanner().push(text)
      expect(scanner.next()).toBe(OPEN)
      scanner.skip()
      scanner.next()
      return [text.slice(scanner.end), scanner.isNumbers, scanner.isEmpty]
    }
    expect(skip('[1,-2.5e3 ,0]x')).toStrictEqual(['x', true, false])
    expect(skip('[1,[2]]x')).toStrictEqual(['x', false, false])
    expect(skip('[1,"2"]x')).toStrictEqual(['x', false, false])
    expect(skip('[null]x')).toStrictEqual(['x', false, false])
    expect(skip('{ }x')).toStrictEqual(['x', false, true])
  })

  it('keeps what it was told to, across pieces, up to a length', () => {
    const capture = (lengthMax: number) => {
      const scanner = new JsonScanner()
      for (const [index, piece] of ['[[1', ',"two"', ',3]', ']'].entries()) {
        scanner.push(piece)
        for (let token = scanner.next(); token !== MORE; token = scanner.next()) {
          if (scanner.depth === 2 && token === OPEN) {
            scanner.capture(lengthMax)
          } else if (scanner.depth === 1 && index === 2) {
            return scanner.endCapture()
          }
        }
      }
      return 'nothing'
    }
    expect([capture(11), capture(10)]).toStrictEqual(['[1,"two",3]', undefined])
  })
})
