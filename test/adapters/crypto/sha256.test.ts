import { describe, expect, it } from 'vitest'
import { sha256Hex } from '#adapters/crypto/sha256.ts'

describe('sha256', () => {
  it.each([
    // FIPS 180-2, appendix B.1.
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    // Two bytes of UTF-8.
    ['é', '4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c'],
  ])('of %j is its digest in lower-case hex', (string, digest) => {
    expect(sha256Hex(string)).toBe(digest)
  })
})
