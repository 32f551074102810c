import { describe, expect, it } from '@jest/globals'
import { isSameString, openSealedValue, randomBase62, sealValue, sha256Hex } from '#platform/crypto.ts'

const PURPOSE = 'test'

describe('a sealed value', () => {
  it('is opened with its secret, also when a newer one stands first', () => {
    const sealed = sealValue('{"state":"x"}', { secret: 'old', purpose: PURPOSE })
    expect(openSealedValue(sealed, { secrets: ['new', 'old'], purpose: PURPOSE })).toBe('{"state":"x"}')
  })

  it('is not opened with another secret or for another purpose', () => {
    const sealed = sealValue('text', { secret: 'one', purpose: PURPOSE })
    expect(openSealedValue(sealed, { secrets: ['two'], purpose: PURPOSE })).toBeUndefined()
    expect(openSealedValue(sealed, { secrets: ['one'], purpose: 'other' })).toBeUndefined()
    expect(openSealedValue(sealed, { secrets: [], purpose: PURPOSE })).toBeUndefined()
  })

  it('is not opened once any of its bytes was changed or lost', () => {
    const bytes = Buffer.from(sealValue('text', { secret: 'one', purpose: PURPOSE }), 'base64url')
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes)
      changed[index] = (changed[index] ?? 0) ^ 1
      for (const value of [changed, bytes.subarray(0, index)]) {
        expect(openSealedValue(value.toString('base64url'), { secrets: ['one'], purpose: PURPOSE })).toBeUndefined()
      }
    }
  })

  it('is never the same twice', () => {
    const seal = () => sealValue('text', { secret: 'one', purpose: PURPOSE })
    expect(seal()).not.toBe(seal())
  })
})

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

describe('randomBase62', () => {
  it('makes as many characters as asked, and never the same twice', () => {
    const made = Array.from({ length: 200 }, () => randomBase62(16))
    expect(made.every((each) => /^[0-9A-Za-z]{16}$/.test(each))).toBe(true)
    expect(new Set(made).size).toBe(200)
  })
})
