import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import {
  parseSigningKeySecret,
  publicKeyOf,
  publishedKeys,
  UnexpectedSigningSecretError,
} from '#platform/cdn/signing-key-secret.ts'

const PEM = '-----BEGIN PRIVATE KEY-----'
const published = { keyPairId: 'K1', privateKeyPem: PEM, createdAt: 1 }
const unpublished = { privateKeyPem: PEM, createdAt: 2 }

describe('parseSigningKeySecret', () => {
  it.each([
    ['the keys', { keys: [published, unpublished] }, [published, unpublished]],
    ['no key in an empty object', {}, []],
  ])('reads %s', (_, secret, expected) => {
    expect(parseSigningKeySecret(JSON.stringify(secret))).toEqual(expected)
  })

  it.each([
    'hunter2',
    '["hunter2"]',
    '{"keys":[{"privateKeyPem":"hunter2","createdAt":1}]}',
    `{"keys":[{"privateKeyPem":"${PEM} hunter2"}]}`,
  ])('refuses %s without quoting it', (content) => {
    const parse = () => parseSigningKeySecret(content)
    expect(parse).toThrow(UnexpectedSigningSecretError)
    expect(parse).toThrow(/^the secret of the signing keys has another JSON shape$/)
    expect(parse).not.toThrow(expect.objectContaining({ cause: expect.anything() }))
  })
})

describe('publishedKeys', () => {
  it('are the keys that the CDN knows', () => {
    expect(publishedKeys([published, unpublished])).toEqual([published])
  })
})

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const SPKI = publicKey.export({ type: 'spki', format: 'pem' }).toString()

describe('publicKeyOf', () => {
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
