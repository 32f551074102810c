import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { TokenVerifier } from '#upstream/token-verifier.ts'
import { AUDIENCE, rawToken, startIssuer, type TestIssuer, type TokenParts } from '../engines/test-issuer.ts'

let issuer: TestIssuer
let now = Date.now()
beforeAll(async () => {
  issuer = await startIssuer()
})
afterAll(() => issuer.stop())
beforeEach(() => {
  now = Date.now()
  jest.spyOn(console, 'warn').mockReturnValue()
})

function newVerifier(of = issuer): TokenVerifier {
  const settings = { issuers: [{ issuer: of.issuer, audience: ['other', AUDIENCE], rules: [] }], trusted_origins: [] }
  return new TokenVerifier(settings, { nowMilliseconds: () => now })
}

/** What is said of a token, which must never repeat it. */
async function said(token: string, verifier = newVerifier()): Promise<string> {
  const error = await verifier.verify(token).then(
    (found) => (found === undefined ? 'no token' : 'valid'),
    (thrown: Error & { explanation?: string }) => thrown.explanation ?? thrown.message,
  )
  expect(token.split('.').some((part) => part.length > 8 && error.includes(part))).toBe(false)
  return error
}

const seconds = (from: number) => Math.trunc(Date.now() / 1000) + from

describe('verify', () => {
  it.each(['RS256', 'ES256', 'ES384', 'EdDSA'])('accepts a token that is signed with %s', async (alg) => {
    const own = await startIssuer({ alg })
    const found = await newVerifier(own).verify(await own.token({ claims: { sub: 'me', team: 'ml' } }))
    expect(found).toMatchObject({ subject: 'me', claims: { team: 'ml' }, issuer: { issuer: own.issuer } })
    await own.stop()
  })

  it.each<[string, TokenParts, string]>([
    ['another audience', { claims: { aud: 'https://other.example.com' } }, 'audience (aud)'],
    ['no audience', { claims: { aud: undefined } }, 'audience (aud)'],
    ['the past', { claims: { iat: seconds(-600), exp: seconds(-61) } }, 'expired (exp)'],
    ['no end', { claims: { exp: undefined } }, '(exp)'],
    ['the future', { claims: { nbf: seconds(120) } }, '(nbf)'],
    ['two days', { claims: { exp: seconds(48 * 3600) } }, '24 hours'],
    ['two days without a beginning', { claims: { iat: undefined, exp: seconds(48 * 3600) } }, '24 hours'],
    ['two days from a beginning in the future', { claims: { iat: seconds(47 * 3600), exp: seconds(48 * 3600) } }, '('],
    ['half a surrogate pair as subject', { claims: { sub: '\ud800' } }, '('],
    ['no subject', { claims: { sub: undefined } }, '(sub)'],
    ['an empty subject', { claims: { sub: '' } }, '(sub)'],
    ['a long subject', { claims: { sub: 's'.repeat(2_049) } }, '(sub)'],
  ])('refuses a token for %s', async (_, parts, words) => {
    const told = await said(await issuer.token(parts))
    expect(told).not.toBe('valid')
    expect(told).toContain(words)
  })

  it.each(['JWT', 'jwt', 'at+jwt', 'AT+JWT', 'application/at+jwt', 'Application/JWT', undefined])(
    'accepts a token of the type %s',
    async (typ) => {
      expect(await said(await issuer.token({ header: { typ } }))).toBe('valid')
    },
  )

  it.each([
    'logout+jwt',
    'dpop+jwt',
    'secevent+jwt',
    'application/logout+jwt',
    'application/application/jwt',
    'JWE',
    '',
  ])('refuses a token of the type %j, which is for another use', async (typ) => {
    expect(await said(await issuer.token({ header: { typ } }))).toContain('another use (typ)')
  })

  it.each([null, 1, ['JWT']])('refuses a token whose type is %j', async (typ) => {
    const [, ...rest] = (await issuer.token()).split('.')
    const [header = ''] = rawToken({ alg: 'ES256', kid: 'x', typ }, {}).split('.')
    expect(await said([header, ...rest].join('.'))).toContain('(typ)')
  })

  it('allows clocks to be a minute apart', async () => {
    expect(await said(await issuer.token({ claims: { iat: seconds(-600), exp: seconds(-50) } }))).toBe('valid')
    expect(await said(await issuer.token({ claims: { nbf: seconds(50) } }))).toBe('valid')
  })

  it('knows no token of another issuer, and asks nobody about it', async () => {
    const verifier = newVerifier()
    expect(await said(await issuer.token({ claims: { iss: 'https://evil.example.com' } }), verifier)).toBe('no token')
    expect(await said(await issuer.token({ claims: { iss: `${issuer.issuer}/` } }), verifier)).toBe('no token')
    expect(await said('eyJ', verifier)).toBe('no token')
    expect(await said(rawToken({ alg: 'none' }, []), verifier)).toBe('no token')
  })

  it('refuses a token that nobody signed, or that is signed with a public key as a shared secret', async () => {
    const claims = { iss: issuer.issuer, sub: 'me', aud: AUDIENCE, exp: seconds(60) }
    for (const alg of ['none', 'None', 'NONE', 'HS256', '']) {
      expect(await said(rawToken({ alg }, claims))).toContain('(alg)')
    }
    expect(await said(rawToken({}, claims))).toContain('(alg)')
    const { keys } = Object(await (await fetch(`${issuer.issuer}/keys`)).json())
    const unsigned = rawToken({ alg: 'HS256', kid: 'key-1' }, claims).slice(0, -1)
    const signature = createHmac('sha256', JSON.stringify(keys[0])).update(unsigned).digest('base64url')
    expect(await said(`${unsigned}.${signature}`)).toContain('(alg)')
    expect(await said(rawToken({ alg: 'ES256', kid: 'key-1' }, claims, 'AAAA'))).not.toBe('valid')
    expect(await said(rawToken({ alg: 'RS256', kid: 'key-1' }, claims, 'AAAA'))).not.toBe('valid')
  })

  it('refuses a changed token and one that brings its own key', async () => {
    const [header = '', , signature = ''] = (await issuer.token()).split('.')
    const claims = { iss: issuer.issuer, sub: 'admin', aud: AUDIENCE, exp: seconds(60) }
    const [, changed = ''] = rawToken({}, claims).split('.')
    expect(await said(`${header}.${changed}.${signature}`)).toContain('signature')
    const key = await issuer.makeKey()
    const brought = { kid: key.kid, jwk: key.jwk, jku: 'https://evil.example.com/keys' }
    expect(await said(await issuer.token({ key, header: brought }))).toContain('(kid)')
    expect(await said(await issuer.token({ key, header: { kid: 'key-1' } }))).toContain('signature')
  })
})

describe('the keys of an issuer', () => {
  it('are read once for many tokens, again for a rotated key, and at most once a minute for unknown ones', async () => {
    const own = await startIssuer()
    const verifier = newVerifier(own)
    await Promise.all(Array.from({ length: 50 }, async () => verifier.verify(await own.token())))
    expect(own.reads).toEqual({ discovery: 1, keys: 1 })
    await own.rotate()
    expect(await said(await own.token(), verifier)).toBe('valid')
    expect(own.reads.keys).toBe(2)
    const unknown = await own.makeKey()
    await Promise.all(Array.from({ length: 50 }, async () => said(await own.token({ key: unknown }), verifier)))
    expect(own.reads.keys).toBe(2)
    now += 61_000
    await Promise.all(Array.from({ length: 50 }, async () => said(await own.token({ key: unknown }), verifier)))
    expect(own.reads.keys).toBe(3)
    await own.stop()
  })

  it('are used for a day while the issuer is down, and without any nobody is refused for good', async () => {
    const own = await startIssuer()
    const verifier = newVerifier(own)
    const token = await own.token({ claims: { exp: seconds(23 * 3600) } })
    own.setDown(true)
    expect(await said(token, verifier)).toBe('service unavailable')
    await said(token, verifier)
    expect(own.reads.discovery).toBe(1)
    own.setDown(false)
    now += 6_000
    expect(await said(token, verifier)).toBe('valid')
    own.setDown(true)
    now += 2 * 3600_000
    expect(await said(token, verifier)).toBe('valid')
    now += 20 * 3600_000
    expect(await said(token, verifier)).toBe('valid')
    await own.stop()
  })

  it('for encryption or another algorithm are no keys', async () => {
    const own = await startIssuer()
    const key = await own.makeKey()
    own.publish([{ ...key.jwk, use: 'enc' }])
    expect(await said(await own.token({ key }), newVerifier(own))).toContain('(kid)')
    own.publish([
      { ...key.jwk, alg: 'HS256' },
      { kty: 'oct', kid: key.kid, k: 'c2VjcmV0' },
    ])
    expect(await said(await own.token({ key }), newVerifier(own))).toContain('(kid)')
    await own.stop()
  })
})
