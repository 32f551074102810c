import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { gzipSync } from 'node:zlib'

/** One file of a build. */
export type ConsoleFile = { readonly bytes: Buffer; readonly contentType: string }

/** The types of all files that a build contains. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * The `content-type` of a file of the console.
 * @throws Error for a type that no build has contained so far, so that nothing is served with a guessed one.
 */
function consoleContentType(file: string): string {
  const contentType = CONTENT_TYPES[extname(file)]
  if (contentType === undefined) {
    throw new Error(`${file}: add the content type of ${extname(file)} files to lib/console/console-files.ts`)
  }
  return contentType
}

/** Every file of a build by its path relative to the build's folder, such as `assets/index-1a2b.js`. A build has less than 1 MB. */
export function readConsoleFiles(directory: string): ReadonlyMap<string, ConsoleFile> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => statSync(join(directory, name)).isFile())
  return new Map(
    files.map((name) => [
      name.split(sep).join('/'),
      { bytes: readFileSync(join(directory, name)), contentType: consoleContentType(name) },
    ]),
  )
}

/** Where the console is served and what it may load. */
export type ConsoleHeaderOptions = {
  /** The origin of stored videos, if it is not the origin of the console. */
  readonly videoOrigin?: string | undefined
  /** Whether browsers are told to use TLS alone; false on loopback. */
  readonly isTls: boolean
}

/** A year and two months, the least that preload lists of browsers accept being a year. */
const TLS_SECONDS = 36_000_000

/**
 * The security headers of every file of the console. The policy allows its own origin, no inline script and no string that becomes
 * script (Trusted Types). `blob:` is for files that the page makes itself.
 */
export function consoleHeaders({ videoOrigin, isTls }: ConsoleHeaderOptions): Record<string, string> {
  return {
    'content-security-policy': contentSecurityPolicy(videoOrigin),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=()',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    ...(isTls ? { 'strict-transport-security': `max-age=${TLS_SECONDS}; includeSubDomains` } : {}),
  }
}

/** The policy of the console's pages; the origin of videos is added where media are shown. */
function contentSecurityPolicy(videoOrigin?: string): string {
  const media = ["'self'", 'blob:', ...(videoOrigin === undefined ? [] : [videoOrigin])].join(' ')
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${media}`,
    `media-src ${media}`,
    "connect-src 'self'",
    "font-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

/** Files below this path have a hash of their content in their names. */
const HASHED = /^\/console\/assets\//

/** Hashed files never change; the page that names them must be asked for each time. */
export function consoleCacheControl(path: string): string {
  return HASHED.test(path) ? 'public, max-age=31536000, immutable' : 'no-store'
}

/** What the first page of the console may weigh in all, in bytes of gzip. */
export const FIRST_LOAD_BYTES_MAX = 60_000

/** The overview, which the page at `/console` loads at once. */
const FIRST_PAGE = /^assets\/overview-page-[\w-]+\.(js|css)$/

/** One file of a load with its weight in bytes of gzip at level 9. */
export type WeighedFile = { readonly name: string; readonly bytes: number }

/**
 * The files that a browser loads before it shows the first page: the html, all that it names, the overview, and every script that one of
 * these imports at once.
 */
export function firstLoad(files: ReadonlyMap<string, ConsoleFile>): readonly WeighedFile[] {
  const names = new Set(['index.html', ...[...files.keys()].filter((name) => FIRST_PAGE.test(name))])
  for (const name of names) {
    for (const named of filesNamedBy(name, files.get(name)?.bytes.toString() ?? '')) {
      names.add(named)
    }
  }
  return [...names].map((name) => ({ name, bytes: gzipSync(files.get(name)?.bytes ?? '', { level: 9 }).length }))
}

/** Files that the html refers to, and static imports of a script; lazy imports are no part of a first load. */
function filesNamedBy(name: string, content: string): string[] {
  if (name === 'index.html') {
    return [...content.matchAll(/(?:src|href)="\/console\/([^"]+)"/g)].map(([, file = '']) => file)
  }
  const imports = name.endsWith('.js') ? content.matchAll(/(?:from|import)\s*["']\.\/([\w.-]+)["']/g) : []
  return [...imports].map(([, file]) => `assets/${file}`)
}
