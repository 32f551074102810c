import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { checkCallbackUrl, resendRefusal } from '#core/jobs/callback.ts'
import { videoJobRecord } from '../../engines/video-jobs.ts'
import { VECTOR_ALLOWLIST as allowlist, vectorsOf } from '../../upstream/guard/ssrf-vectors.ts'

describe('checkCallbackUrl', () => {
  it.each(vectorsOf('url'))('judges $id rightly: $why', ({ url, allow }) => {
    expect(checkCallbackUrl(url, allowlist).allowed).toBe(allow)
  })

  it.each([...vectorsOf('connect'), ...vectorsOf('redirect')])('leaves $id to the connection: $why', ({ url }) => {
    expect(checkCallbackUrl(url, allowlist).allowed).toBe(true)
  })

  it.each([
    ['HTTPS://Hooks.Example.COM/cb', true],
    ['https://a-b.partner.example/cb', true],
    ['https://xn--bcher-kva.partner.example/', true],
    ['https://xn--.partner.example/', false],
    ['https://-a.partner.example/', false],
    ['https://a-.partner.example/', false],
    ['https://hooks.example.com:/', false],
    ['https://127.0.0.1/', false],
    ['https://0x7f.1/', false],
    [`https://${'a.'.repeat(120)}partner.example/`, false],
    ['', false],
  ])('judges %s: %s', (url, allowed) => {
    expect(checkCallbackUrl(url, allowlist).allowed).toBe(allowed)
  })

  it('allows nothing when the allowlist is empty', () => {
    expect(checkCallbackUrl('https://hooks.example.com/', [])).toStrictEqual({
      allowed: false,
      reason: 'must have a host on the allowlist of the gateway: ask its operator to add the host',
    })
  })

  it.each(['https://localhost:9/', 'https://elsewhere.example/'])(
    'tells a local host what else it takes than %s',
    (url) => {
      expect(checkCallbackUrl(url, ['http://127.0.0.1:*', 'http://10.0.0.1:9'])).toMatchObject({
        reason: expect.stringMatching(
          /\. This local host also takes http:\/\/127\.0\.0\.1:PORT, and what `callback_allowlist` of its configuration names$/,
        ),
      })
    },
  )

  it('says of an empty string that a url is missing, and not that a character is wrong', () => {
    expect(checkCallbackUrl('', allowlist)).toMatchObject({ reason: expect.stringMatching(/^must be an https url/) })
  })

  it('takes a url of exactly 2048 characters', () => {
    const url = 'https://hooks.example.com/'.padEnd(2048, 'a')
    expect(checkCallbackUrl(url, allowlist).allowed).toBe(true)
    expect(checkCallbackUrl(`${url}a`, allowlist).allowed).toBe(false)
  })

  it('gives the parsed url and says what it matched', () => {
    const check = checkCallbackUrl('https://hooks.example.com/cb?job=1', allowlist)
    expect(check).toMatchObject({ allowed: true, match: 'host' })
    expect(check.allowed && check.url.href).toBe('https://hooks.example.com/cb?job=1')
  })
})

describe('checkCallbackUrl and parsers that disagree', () => {
  /** Good urls with up to three pieces put in anywhere: the characters that tricks are made of. */
  const pieces = [
    '@',
    '#',
    '?',
    '/',
    '\\',
    ':',
    '.',
    '%',
    '%40',
    '%2e',
    ';',
    ',',
    '&',
    '|',
    '^',
    '[',
    ']',
    '-',
    '_',
    ' ',
  ]
  const odd = [
    '\t',
    '\n',
    '\0',
    '\u00ad',
    '\u3002',
    '\uff0e',
    '\uff0f',
    '\u2100',
    ':443',
    ':80',
    'evil.com',
    '127.0.0.1',
    'xn--',
  ]
  const good = [
    'https://hooks.example.com/cb?a=b',
    'https://hooks.example.com:443/',
    'https://a.partner.example/x/../y',
  ]
  /** Behind the scheme, around the host and behind the port, and anywhere else. */
  const places = fc.oneof(fc.constantFrom(5, 6, 7, 8, 25, 26, 29, 30), fc.nat(60))
  const inserts = fc.array(fc.tuple(places, fc.constantFrom(...pieces, ...odd)), { maxLength: 3 })
  const damaged = fc
    .tuple(fc.constantFrom(...good), inserts)
    .map(([url, tricks]) => tricks.reduce((text, [at, piece]) => text.slice(0, at) + piece + text.slice(at), url))

  /** The host as RFC 3986, appendix B, splits a url: everything up to the first `/`, `?` or `#`. */
  const hostByTheBook = (url: string) => /^https:\/\/([^/?#]*)/i.exec(url)?.[1]?.replace(/:443$/, '').toLowerCase()
  const isListed = (host: string) => host === 'hooks.example.com' || /^[a-z0-9.-]+\.partner\.example$/.test(host)

  it('allows a url only if all of them find the same host on the list, and nothing but a path and a query behind it', () => {
    let allowed = 0
    fc.assert(
      fc.property(damaged, (url) => {
        const check = checkCallbackUrl(url, allowlist)
        if (check.allowed) {
          allowed += 1
          const { protocol, hostname, port, username, password, hash } = check.url
          expect([protocol, port, username, password, hash]).toStrictEqual(['https:', '', '', '', ''])
          expect(hostByTheBook(url)).toBe(hostname)
          expect(isListed(hostname)).toBe(true)
        }
      }),
      { numRuns: 3_000 },
    )
    expect(allowed).toBeGreaterThan(100)
  })
})

describe('checkCallbackUrl with a full origin on the list', () => {
  const origins = ['http://127.0.0.1:9400', 'https://[::1]:8443', 'http://localhost']

  it.each([
    'http://127.0.0.1:9400',
    'http://127.0.0.1:9400/',
    'http://127.0.0.1:9400/cb?x=@y',
    'http://127.0.0.1:9400?x',
    'https://[::1]:8443/cb',
    'http://localhost/cb',
  ])('allows %s as an origin', (url) => {
    expect(checkCallbackUrl(url, origins)).toMatchObject({ allowed: true, match: 'origin' })
  })

  it.each([
    'http://127.0.0.1:94000/',
    'http://127.0.0.1:9401/',
    'http://127.0.0.1/',
    'https://127.0.0.1:9400/',
    'http://127.0.0.1:9400@evil.com/',
    'http://127.0.0.1:9400.evil.com/',
    'http://127.0.0.1:9400\\@evil.com/',
    'http://127.0.0.1:9400/#fragment',
    'http://127.0.0.1:9400/a b',
    'http://user@127.0.0.1:9400/',
    'HTTP://127.0.0.1:9400/',
    'http://2130706433:9400/',
    'http://localhost:80/',
    'http://localhost:9400/',
    'http://localhost.evil.com/',
    'https://[::1]:8444/',
  ])('refuses %s', (url) => {
    expect(checkCallbackUrl(url, origins).allowed).toBe(false)
  })
})

const ended = videoJobRecord({ status: 'failed', callbackUrl: 'https://example.com/hook' })

describe('resendRefusal', () => {
  it('allows ten resends of an ended job, whether or not the automatic callback was sent', () => {
    const counts = [undefined, 0, 1, 9, 10, 11]
    const refusals = counts.map((callbackResends) => resendRefusal({ ...ended, callbackResends }))
    const limit = 'the callback was sent again 10 times: fetch the job instead'
    expect(refusals).toEqual([undefined, undefined, undefined, undefined, limit, limit])
  })

  it('allows a resend for a cancelled job, whose upstream may still work', () => {
    expect(resendRefusal({ ...ended, status: 'processing', cancelledAt: 5 })).toBeUndefined()
  })

  it('refuses open jobs, and jobs without a url', () => {
    expect(resendRefusal({ ...ended, status: 'processing' })).toMatch('has not ended')
    expect(resendRefusal({ ...ended, callbackUrl: undefined })).toMatch('without a callback_url')
  })
})

describe('checkCallbackUrl with any port of an origin on the list', () => {
  const origins = ['http://127.0.0.1:*', 'http://[::1]:*']

  it.each(['http://127.0.0.1:9400', 'http://127.0.0.1:1/cb?x', 'http://[::1]:65535/'])('allows %s', (url) => {
    expect(checkCallbackUrl(url, origins)).toMatchObject({ allowed: true, match: 'origin' })
  })

  it.each([
    'http://127.0.0.1/',
    'http://127.0.0.1:*/',
    'http://127.0.0.1:/',
    'http://127.0.0.1:65536/',
    'http://127.0.0.1:123456/',
    'http://127.0.0.1:9400@evil.com/',
    'http://127.0.0.1:9400.evil.com/',
    'http://127.0.0.1:94x/',
    'http://127.0.0.10:9400/',
    'https://127.0.0.1:9400/',
    'http://localhost:9400/',
  ])('refuses %s', (url) => {
    expect(checkCallbackUrl(url, origins).allowed).toBe(false)
  })
})
