import { describe, expect, it } from '@jest/globals'
import { exceededBound, type JsonBounds, JsonScanner, MORE, NAME, OPEN, PieceScanner } from '#core/json/json-scanner.ts'

const WORDS = ['more', 'name', 'scalar', 'open', 'close']

/** The tokens of a text that is given in pieces of so many characters. */
function tokensOf(text: string, size = text.length): [string, string | undefined][] {
  const scanner = new PieceScanner()
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
      const scanner = new JsonScanner(text)
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
      const scanner = new PieceScanner()
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

const UNBOUNDED: JsonBounds = {
  depthMax: 1_000_000,
  fieldsMax: 1_000_000,
  elementsMax: 1_000_000,
  numbersMax: 1_000_000,
}

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

describe('exceededBound: the depth of a JSON text', () => {
  it.each([
    ['', 0, false],
    ['5', 0, false],
    ['[]', 0, true],
    [nested(32), 32, false],
    [nested(33), 32, true],
    ['{"a":{"b":[1]}}', 3, false],
    ['{"a":{"b":[1]}}', 2, true],
    [`[${'[],'.repeat(1000)}[]]`, 2, false],
    [JSON.stringify(nested(1000)), 0, false],
    [JSON.stringify({ '[[[[': '}}}}"[[[[\\' }), 1, false],
    ['["\\\\", [[]]]', 2, true],
    ['["\\"[[[["]', 1, false],
    ['"never closed [[[[', 0, false],
  ])('of %j is above %i: %j', (text, depthMax, expected) => {
    expect(exceededBound(text, { ...UNBOUNDED, depthMax }) === 'depthMax').toBe(expected)
  })

  it('is known before a bomb of brackets was walked through', () => {
    expect(exceededBound('['.repeat(1_000_000), { ...UNBOUNDED, depthMax: 32 })).toBe('depthMax')
  })
})

describe('exceededBound: the elements of a JSON text', () => {
  it.each([
    ['"a"', 1],
    ['{}', 1],
    ['{"a":1}', 2],
    ['{"a":"b"}', 3],
    ['[[],{},"",1,true]', 4],
    ['["\\"",1]', 2],
    ['["\\\\",1]', 2],
    ['[1,2,3,4,5,6,7,8,9]', 1],
    ['{"[":"{"}', 3],
  ])('of %s are %i: strings, objects and lists', (text, count) => {
    expect(exceededBound(text, { ...UNBOUNDED, elementsMax: count })).toBeUndefined()
    expect(exceededBound(text, { ...UNBOUNDED, elementsMax: count - 1 })).toBe('elementsMax')
  })
})

describe('exceededBound: the numbers of a JSON text', () => {
  it.each([
    ['{"a":1}', 1],
    ['[1,true,[false,{"a":null}],"2"]', 4],
  ])('of %s are %i, with the words beside them', (text, count) => {
    expect(exceededBound(text, { ...UNBOUNDED, numbersMax: count })).toBeUndefined()
    expect(exceededBound(text, { ...UNBOUNDED, numbersMax: count - 1 })).toBe('numbersMax')
  })
})

describe('exceededBound: the fields of a JSON text', () => {
  it.each([
    ['{}', 0],
    ['{"a":1}', 1],
    ['{"a":1,"b":{"c":1,"d":[{"e":1}]}}', 2],
    ['{"a" \t\r\n :1,"b":":"}', 2],
    ['{"a\\":":"b","c\\\\":"d"}', 2],
    ['[":","a"]', 0],
  ])('of %s are %i at its top level', (text, count) => {
    expect(exceededBound(text, { ...UNBOUNDED, fieldsMax: count })).toBeUndefined()
    expect(exceededBound(text, { ...UNBOUNDED, fieldsMax: count - 1 })).toBe('fieldsMax')
  })
})

it('exceededBound leaves a text that closes more than it opened to the parser', () => {
  expect(exceededBound(`${']'.repeat(1_000)}${'['.repeat(1_000)}`, { ...UNBOUNDED, depthMax: 1 })).toBeUndefined()
})
