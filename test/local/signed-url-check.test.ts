import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createUrlSigner } from '#adapters/cdn/signed-url.ts'
import { type CdnKey, isSignedUrlValid } from '#local/cdn-front.ts'

function newKey(keyPairId = 'K1'): CdnKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    keyPairId,
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  }
}

const KEY = newKey()
const END = 1_800_000_000
const sign = createUrlSigner({
  baseUrl: 'http://127.0.0.1:8787',
  keyPairId: KEY.keyPairId,
  privateKeyPem: KEY.privateKeyPem,
})
const SIGNED = sign({ videoKey: 'v/00ff/job.mp4', expiresAt: END })

/** The signed url with one thing changed. */
function changed(change: (url: URL) => void): string {
  const url = new URL(SIGNED)
  change(url)
  return url.href
}

const isValid = (url: string, now = END - 1) => isSignedUrlValid(url, KEY, now)

describe('a signed url', () => {
  it('is valid as it was signed, until the second before its end', () => {
    expect(isValid(SIGNED, 0)).toBe(true)
    expect(isValid(SIGNED, END - 0.001)).toBe(true)
  })

  it('has ended in the very second of its end', () => {
    expect(isValid(SIGNED, END)).toBe(false)
  })

  it('is the same every time for one job', () => {
    expect(sign({ videoKey: 'v/00ff/job.mp4', expiresAt: END })).toBe(SIGNED)
  })

  it.each<[string, (url: URL) => void]>([
    ['another path', (url) => (url.pathname = '/v/00ff/other.mp4')],
    ['another host', (url) => (url.host = 'localhost:8787')],
    ['a later end', (url) => url.searchParams.set('Expires', String(END + 1))],
    ['an end that is no number', (url) => url.searchParams.set('Expires', `${END}.5`)],
    ['no end', (url) => url.searchParams.delete('Expires')],
    [
      'another signature',
      (url) => url.searchParams.set('Signature', url.searchParams.get('Signature')?.replace(/^.{4}/, 'AAAA') ?? ''),
    ],
    ['no signature', (url) => url.searchParams.delete('Signature')],
    ['an empty signature', (url) => url.searchParams.set('Signature', '')],
    ['another key', (url) => url.searchParams.set('Key-Pair-Id', 'K2')],
    ['no key', (url) => url.searchParams.delete('Key-Pair-Id')],
  ])('with %s is not valid', (_, change) => {
    expect(isValid(changed(change))).toBe(false)
  })

  it('signed by somebody else under the same key id is not valid', () => {
    const other = newKey(KEY.keyPairId)
    const forged = createUrlSigner({
      baseUrl: 'http://127.0.0.1:8787',
      keyPairId: KEY.keyPairId,
      privateKeyPem: other.privateKeyPem,
    })
    expect(isValid(forged({ videoKey: 'v/00ff/job.mp4', expiresAt: END }))).toBe(false)
  })
})
