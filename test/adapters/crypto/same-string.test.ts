import { describe, expect, it } from 'vitest'
import { isSameString } from '#adapters/crypto/same-string.ts'

describe('isSameString', () => {
  it.each([
    ['', '', true],
    ['secret', 'secret', true],
    ['secret', 'secreT', false],
    ['secret', 'secret ', false],
    ['é', 'e', false],
  ])('of %j and %j is %s', (left, right, isSame) => {
    expect(isSameString(left, right)).toBe(isSame)
  })
})
