import { describe, expect, it } from 'vitest'
import {
  consoleSite,
  isConsoleOrigin,
  isLoopbackHost,
  originOf,
  sessionCookieName,
} from '#core/console/console-site.ts'

const LOOPBACK = consoleSite('loopback')
const AWS = consoleSite('https://console.example.com https://d1.cloudfront.net')

describe('console site', () => {
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
