import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { publicKeyOf } from '#adapters/cdn/public-key-of.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const SPKI = publicKey.export({ type: 'spki', format: 'pem' }).toString()

describe('public-key-of', () => {
  it.each([
    ['the private half', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
    ['the public half', SPKI],
    ['an older encoding of the public half', publicKey.export({ type: 'pkcs1', format: 'pem' }).toString()],
  ])('is the same SPKI for %s', (_, pem) => {
    expect(publicKeyOf(pem)).toBe(SPKI)
  })

  it('refuses what is no key', () => {
    expect(() => publicKeyOf('no key')).toThrow()
  })
})
