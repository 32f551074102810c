import { describe, expect, it } from 'vitest'
import { openSealedValue, sealValue } from '#adapters/crypto/sealed-value.ts'

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
