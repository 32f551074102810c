import { describe, expect, it } from 'vitest'
import { randomBase62 } from '#adapters/crypto/random-base62.ts'

describe('randomBase62', () => {
  it('makes as many characters as asked, and never the same twice', () => {
    const made = Array.from({ length: 200 }, () => randomBase62(16))
    expect(made.every((each) => /^[0-9A-Za-z]{16}$/.test(each))).toBe(true)
    expect(new Set(made).size).toBe(200)
  })
})
