import { describe, expect, it } from '@jest/globals'
import { isNestedDeeperThan } from '#core/json-depth.ts'

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

describe('isNestedDeeperThan', () => {
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
  ])('of %j beyond %i is %j', (text, depthMax, expected) => {
    expect(isNestedDeeperThan(text, depthMax)).toBe(expected)
  })

  it('does not walk through a bomb of brackets', () => {
    expect(isNestedDeeperThan('['.repeat(1_000_000), 32)).toBe(true)
  })
})
