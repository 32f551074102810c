import { describe, expect, it } from 'vitest'
import { consoleCacheControl, consoleHeaders } from '../../lib/console/console-files.ts'

function directives(videoOrigin?: string): Map<string, string> {
  const policy = consoleHeaders({ videoOrigin, isTls: false })['content-security-policy'] ?? ''
  return new Map(policy.split('; ').map((part) => [part.split(' ')[0] ?? '', part.split(' ').slice(1).join(' ')]))
}

describe('consoleHeaders', () => {
  it('allow nothing but files of the own origin, and no string that becomes script', () => {
    expect(Object.fromEntries(directives())).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': "'self' blob:",
      'media-src': "'self' blob:",
      'connect-src': "'self'",
      'font-src': "'self'",
      'manifest-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'self'",
      'frame-ancestors': "'none'",
      'require-trusted-types-for': "'script'",
      'trusted-types': "'none'",
    })
  })

  it('allow media of the origin of videos where it is another one, and nothing else of it', () => {
    const allowed = directives('https://videos.example.com')
    const named = [...allowed].filter(([, sources]) => sources.includes('videos.example.com')).map(([name]) => name)
    expect(named.sort()).toEqual(['img-src', 'media-src'])
  })

  it('demand TLS where there is TLS alone', () => {
    expect(consoleHeaders({ isTls: true })['strict-transport-security']).toMatch(/^max-age=\d{8}/)
    expect(consoleHeaders({ isTls: false })).not.toHaveProperty('strict-transport-security')
    expect(consoleHeaders({ isTls: false })).toMatchObject({
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': 'camera=(), microphone=(), geolocation=()',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
  })

  it('let hashed files be kept for ever and the page not at all', () => {
    expect(consoleCacheControl('/console/assets/index-1a2b3c4d.js')).toBe('public, max-age=31536000, immutable')
    expect(consoleCacheControl('/console')).toBe('no-store')
    expect(consoleCacheControl('/console/videos/assets/')).toBe('no-store')
  })
})
