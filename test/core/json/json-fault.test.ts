import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { faultOfJson } from '#core/json/json-fault.ts'
import { parsedOrUndefined } from '#core/json/parse-json-text.ts'

describe('faultOfJson', () => {
  it.each([
    ['{"a":}', 'it is wrong at line 1, column 6'],
    ['{"a":1,}', 'it is wrong at line 1, column 8'],
    ['{"model": "x"\n "messages": []}', 'it is wrong at line 2, column 2'],
    ['{\n  "a": 1,\n  "b": nul\n}', 'it is wrong at line 3, column 8'],
    ["{'a':1}", 'it is wrong at line 1, column 2'],
    ['[1 2]', 'it is wrong at line 1, column 4'],
    ['[01]', 'it is wrong at line 1, column 2'],
    ['[1}', 'it is wrong at line 1, column 3'],
    ['"a\tb"', 'it is wrong at line 1, column 3'],
    ['{} {}', 'it is wrong at line 1, column 4'],
    ['{"a":"b"', 'it ends too early, at line 1, column 9'],
    ['{"a":"b', 'it ends too early, at line 1, column 8'],
    ['model=x', 'it is wrong at line 1, column 1'],
    [`[${'"word",\n'.repeat(50_000)}oops]`, 'it is wrong at line 50001, column 1'],
  ])('finds the place in %.40j', (text, fault) => {
    expect(faultOfJson(text)).toBe(fault)
  })

  it('finds a place in anything that is not JSON, where what stands before it may begin JSON', () => {
    const broken = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '}', ']', ':', '"', 'x', '\n'))
      .map(([json, at, more]) => json.slice(0, at % (json.length + 1)) + more)
      .filter((text) => text !== '' && parsedOrUndefined(text) === undefined)
    fc.assert(
      fc.property(broken, (text) => {
        expect(faultOfJson(text)).toMatch(/^it (is wrong|ends too early,) at line \d+, column \d+$/)
      }),
    )
  })
})
