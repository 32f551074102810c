import { describe, expect, it } from '@jest/globals'
import {
  consoleSite,
  cookieValues,
  crossSiteProblem,
  isConsoleOrigin,
  isConsoleTarget,
  isLoopbackHost,
  originOf,
  type SenderFacts,
  sessionCookieName,
  setCookie,
} from '#core/admin/console-site.ts'

const LOOPBACK = consoleSite('loopback')
const AWS = consoleSite('https://console.example.com https://d1.cloudfront.net')

describe('consoleSite', () => {
  it.each([
    'localhost:8787',
    'LOCALHOST',
    'gate.localhost:1',
    'a.b.localhost',
    '127.0.0.1:8787',
    '127.8.9.1',
    '[::1]:8787',
  ])('knows %s as a name of this machine', (host) => {
    expect(isLoopbackHost(host)).toBe(true)
  })

  it.each([
    undefined,
    '',
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'localhost:1@evil.example',
  ])('knows %s as no name of this machine', (host) => {
    expect(isLoopbackHost(host)).toBe(false)
    expect(originOf(LOOPBACK, host)).toBeUndefined()
  })

  it('has the origin of the request on loopback, and else a configured one', () => {
    const host = 'localhost:8787'
    expect(isConsoleOrigin('http://localhost:8787', { site: LOOPBACK, host })).toBe(true)
    expect(isConsoleOrigin('http://localhost:9999', { site: LOOPBACK, host })).toBe(false)
    expect(isConsoleOrigin('http://127.0.0.1:8787', { site: LOOPBACK, host })).toBe(false)
    expect(isConsoleOrigin('https://d1.cloudfront.net', { site: AWS, host: 'api.example' })).toBe(true)
    expect(isConsoleOrigin('https://d2.cloudfront.net', { site: AWS, host: 'd2.cloudfront.net' })).toBe(false)
    expect(originOf(AWS, 'd2.cloudfront.net')).toBe('https://console.example.com')
  })

  it('has no origin where none is configured, so that no page can change anything', () => {
    const site = consoleSite(undefined)
    expect(site).toEqual({ isLoopback: false, origins: [] })
    expect(isConsoleOrigin('https://api.example', { site, host: 'api.example' })).toBe(false)
  })

  it('names the cookie by the port on loopback, and keeps it to https elsewhere', () => {
    expect(sessionCookieName(LOOPBACK, 'localhost:8787')).toBe('rg_console_8787')
    expect(sessionCookieName(LOOPBACK, 'localhost')).toBe('rg_console')
    expect(sessionCookieName(AWS, 'd1.cloudfront.net')).toBe('__Secure-rg_console')
  })
})

const SITE = consoleSite('https://console.example.com')

const OWN_PAGE: SenderFacts = {
  method: 'POST',
  origin: 'https://console.example.com',
  fetchSite: 'same-origin',
  consoleHeader: '1',
  contentType: 'application/json',
  host: 'console.example.com',
}

describe('crossSiteProblem for a request that changes something', () => {
  it.each<[string, Partial<SenderFacts>]>([
    ['a page of the console', {}],
    ['a browser without Sec-Fetch-Site', { fetchSite: undefined }],
    ['a page that sends no body', { contentType: undefined }],
    ['a page that names the charset', { contentType: 'Application/JSON; charset=utf-8' }],
  ])('is let through from %s', (_, facts) => {
    expect(crossSiteProblem({ ...OWN_PAGE, ...facts }, SITE)).toBeUndefined()
  })

  it.each<[string, Partial<SenderFacts>]>([
    ['no Origin', { origin: undefined }],
    ['the Origin of another site', { origin: 'https://evil.example' }],
    ['the Origin null', { origin: 'null' }],
    ['an Origin that begins like ours', { origin: 'https://console.example.com.evil.example' }],
    ['our Origin over http', { origin: 'http://console.example.com' }],
    ['no header of the console', { consoleHeader: undefined }],
    ['another value of that header', { consoleHeader: 'true' }],
    ['Sec-Fetch-Site cross-site', { fetchSite: 'cross-site' }],
    ['Sec-Fetch-Site same-site', { fetchSite: 'same-site' }],
    ['Sec-Fetch-Site none', { fetchSite: 'none' }],
    ['a body of the type of a form', { contentType: 'application/x-www-form-urlencoded' }],
    ['a body of plain text', { contentType: 'text/plain' }],
    ['a body of a multipart form', { contentType: 'multipart/form-data; boundary=x' }],
    ['a body without a type', { contentType: '' }],
    ['a type that begins like JSON', { contentType: 'application/json-patch+json' }],
  ])('is refused with %s, whatever its method', (_, facts) => {
    for (const method of ['POST', 'PATCH', 'DELETE', 'PUT', 'post']) {
      expect(crossSiteProblem({ ...OWN_PAGE, method, ...facts }, SITE)).toEqual(expect.any(String))
    }
  })
})

describe('crossSiteProblem for a request that changes nothing', () => {
  it('is nothing wherever the request comes from: no other origin can read its response', () => {
    const facts = { ...OWN_PAGE, method: 'GET', origin: undefined, fetchSite: 'cross-site', consoleHeader: undefined }
    expect(crossSiteProblem(facts, SITE)).toBeUndefined()
  })
})

describe('isConsoleTarget', () => {
  it.each([
    '/console',
    '/console?tenant=acme',
    '/console/videos?status=failed&model=famB-1.1-t2v&created_after=1795263797',
    '/console/videos/01980000-0000-7000-8000-000000000000?tenant=acme',
    '/console/channels?search=a+b%2Fc%3F',
    '/console/tenants/%F0%9F%8E%A5',
  ])('takes %s', (target) => {
    expect(isConsoleTarget(target)).toBe(true)
  })

  it.each([
    '',
    '/',
    'console/videos',
    'overview',
    '//evil.example',
    '/\\evil.example',
    'https://evil.example/console',
    'javascript:alert(1)',
    '/console.evil.example',
    '/console@evil.example',
    '/consoles',
    '/console//evil.example',
    '/console/../admin/v1/session',
    '/console/%2e%2e/v1/models',
    '/console/.%2E/v1',
    '/console/./videos',
    '/console\\..\\v1',
    '/console/videos#page=x',
    '/console/videos?a="><script>',
    '/console/videos?a=b c',
    '/console\n/videos',
    '\t/console',
    ' /console',
    '/console/videos\u0000',
    `/console/${'a'.repeat(1_000)}`,
  ])('refuses %j', (target) => {
    expect(isConsoleTarget(target)).toBe(false)
  })
})

describe('cookieValues and setCookie', () => {
  it('find cookies by their whole name, over all headers', () => {
    const headers = ['a=1; rg=2;rg=3', 'xrg=4; rgx=5; rg=6=7']
    expect(cookieValues(headers, 'rg')).toEqual(['2', '3', '6=7'])
  })

  it('set cookies for no script, for their path alone, and over https where there is https', () => {
    const settings = { path: '/admin', sameSite: 'Strict', isSecure: true, maxAgeSeconds: 60 } as const
    expect(setCookie('rg', 'x', settings)).toBe('rg=x; Path=/admin; Max-Age=60; HttpOnly; SameSite=Strict; Secure')
    expect(setCookie('rg', '', { ...settings, isSecure: false, maxAgeSeconds: 0 })).toBe(
      'rg=; Path=/admin; Max-Age=0; HttpOnly; SameSite=Strict',
    )
  })
})
