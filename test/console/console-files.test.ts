import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import {
  type ConsoleFile,
  consoleCacheControl,
  consoleHeaders,
  firstLoad,
  readConsoleFiles,
} from '../../lib/console/console-files.ts'

describe('readConsoleFiles', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'reelgate-console-'))
    mkdirSync(join(directory, 'assets'))
    writeFileSync(join(directory, 'index.html'), 'page')
    writeFileSync(join(directory, 'assets/index-1.js'), 'script')
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('reads every file with its content type, by the path below the console', () => {
    const files = [...readConsoleFiles(directory)].map(([path, { bytes, contentType }]) => [
      path,
      bytes.toString(),
      contentType,
    ])
    expect(files.sort()).toEqual([
      ['assets/index-1.js', 'script', 'text/javascript; charset=utf-8'],
      ['index.html', 'page', 'text/html; charset=utf-8'],
    ])
  })

  it('refuses a file whose content type nobody has decided', () => {
    writeFileSync(join(directory, 'assets/photo.heic'), '')
    expect(() => readConsoleFiles(directory)).toThrow('add the content type of .heic files')
  })
})

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

const file = (content: string): ConsoleFile => ({ bytes: Buffer.from(content), contentType: 'text/javascript' })

describe('firstLoad', () => {
  it('weighs the page, what it names, the overview, and what they import at once', () => {
    const files = new Map([
      [
        'index.html',
        file('<script src="/console/assets/index-1.js"></script><link href="/console/assets/index-2.css">'),
      ],
      ['assets/index-1.js', file('import{a}from"./shared-3.js";const page=()=>import("./usage-page-4.js")')],
      ['assets/index-2.css', file('a{}')],
      ['assets/shared-3.js', file('export const a=1')],
      ['assets/usage-page-4.js', file('import"./chart-5.js"')],
      ['assets/chart-5.js', file('x')],
      ['assets/overview-page-6.js', file('import{b}from"./stat-7.js"')],
      ['assets/stat-7.js', file('export const b=1')],
    ])
    expect(
      firstLoad(files)
        .map(({ name }) => name)
        .sort(),
    ).toEqual([
      'assets/index-1.js',
      'assets/index-2.css',
      'assets/overview-page-6.js',
      'assets/shared-3.js',
      'assets/stat-7.js',
      'index.html',
    ])
  })

  it('counts bytes of gzip', () => {
    const [page] = firstLoad(new Map([['index.html', file('a'.repeat(10_000))]]))
    expect(page?.bytes).toBeLessThan(100)
  })
})
