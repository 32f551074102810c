import { describe, expect, it } from 'vitest'
import { parseSigningKeySecret, publishedKeys, UnexpectedSigningSecretError } from '#adapters/cdn/signing-key-secret.ts'

const PEM = '-----BEGIN PRIVATE KEY-----'
const published = { keyPairId: 'K1', privateKeyPem: PEM, createdAt: 1 }
const unpublished = { privateKeyPem: PEM, createdAt: 2 }

describe('signing-key-secret: parseSigningKeySecret', () => {
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

describe('signing-key-secret: publishedKeys', () => {
  it('are the keys that the CDN knows', () => {
    expect(publishedKeys([published, unpublished])).toEqual([published])
  })
})
