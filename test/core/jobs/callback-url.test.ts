import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import * as z from 'zod'
import { checkCallbackUrl } from '#core/jobs/callback-url.ts'

const vectorSchema = z.object({
  id: z.string(),
  url: z.string(),
  allow: z.boolean(),
  why: z.string(),
  stage: z.string(),
})
const file = readFileSync(new URL('../../vectors/ssrf.json', import.meta.url), 'utf8')
const vectors = z.array(vectorSchema).parse(JSON.parse(file))
const allowlist = ['hooks.example.com', '*.partner.example']

describe('checkCallbackUrl', () => {
  it.each(vectors.filter(({ stage }) => stage === 'url'))('judges $id rightly: $why', ({ url, allow }) => {
    expect(checkCallbackUrl(url, allowlist).allowed).toBe(allow)
  })

  it.each(vectors.filter(({ stage }) => stage !== 'url'))('leaves $id to the connection: $why', ({ url }) => {
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
      reason: 'has a host that is not on the allowlist',
    })
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
