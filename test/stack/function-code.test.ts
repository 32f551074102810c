import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Route } from '#routes/define-route.ts'
import { ROUTES } from '#routes/index.ts'
import { type Bundle, bundleHandler, weighBundle } from '#stack/bundle-handler.ts'
import DiscoveredEndpoints from '#stack/discovered-endpoints.ts'
import { defaultProvider, MissingCredentialsError } from '#stack/environment-credentials.ts'
import { filesBesideThePage, packConsole } from '#stack/function-code.ts'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'

const { files, inputs } = bundleHandler({ root: REPOSITORY_ROOT, folder: 'api/delete-video-job' })
const code = files.map((file) => file.code).join('\n')
const names = files.map(({ name }) => name)
const codeAtStart = files.flatMap((file) => (file.isLoadedAtStart ? [file.code] : [])).join('\n')

describe('bundleHandler', () => {
  it('creates an entry that exports the handler and imports only Node and its own files', () => {
    expect(files.find(({ name }) => name === 'index.mjs')?.code).toMatch(/export\s*\{[^}]*as handler/)
    const imported = [...code.matchAll(/(?:^|;)import[^"'();]*"([^"]+)"|\bimport\("([^"]+)"\)/gm)].map(
      ([, statically, dynamically]) => statically ?? dynamically ?? '',
    )
    expect(imported).toContain('node:fs')
    expect(imported.filter((name) => !/^(node:)?[a-z_/]+$/.test(name) && !names.includes(name.slice(2)))).toEqual([])
  })

  it('loads rarely used code after the cold start', () => {
    const services = ['dynamodb', 's3'].map((name) => `com.amazonaws.${name}`)
    expect(services.filter((name) => code.includes(name))).toEqual(services)
    expect(services.filter((name) => codeAtStart.includes(name))).toEqual(['com.amazonaws.dynamodb'])
  })

  it('imports only the used part of node:http, because the rest loads Node’s fetch client', () => {
    expect(code).toContain('getBuiltinModule("node:http")')
    expect(code).not.toMatch(/(from|import\()\s*"(node:)?http"/)
  })

  it('omits the search for credentials, which Lambda does not need', () => {
    expect(inputs).toContain('lib/stack/environment-credentials.ts')
    expect(inputs.filter((file) => /credential-provider-|nested-clients/.test(file))).toEqual([])
  })

  it('omits the SDK’s cache of discovered endpoints', () => {
    expect(inputs).toContain('lib/stack/discovered-endpoints.ts')
    expect(inputs.filter((file) => file.includes('/mnemonist/'))).toEqual([])
  })

  it('uses the ES modules of the SDK', () => {
    expect(inputs).toContain('node_modules/@aws-sdk/client-s3/dist-es/S3Client.js')
    expect(inputs.filter((file) => file.includes('/dist-cjs/'))).toEqual([])
  })

  it('drops the SDK’s tables of unused operations', () => {
    expect(code).toContain('DeleteObject')
    expect(code).not.toContain('CreateMultipartUpload')
  })

  it.each(ROUTES.filter(({ streams }: Route) => streams === true))(
    'keeps both handlers of $operation, and those of relayed operations without the SDK',
    (route: Route) => {
      const bundle = bundleHandler({ root: REPOSITORY_ROOT, folder: `api/${route.operation}` })
      const entry = bundle.files.find(({ name }) => name === 'index.mjs')?.code
      const exported = /export\s*\{([^}]*)\}/.exec(entry ?? '')?.[1]?.split(',') ?? []
      expect(exported.map((each) => each.replace(/^.* as /, '')).sort()).toEqual(['handler', 'streamHandler'])
      // The global of Lambda's runtime, asked for before it is used: an emulator may run the other handler without it.
      expect(entry).toMatch(/awslambda/)
      const hasSdk = bundle.inputs.some((file) => /node_modules\/(@aws-sdk|@smithy)\//.test(file))
      expect(hasSdk).toBe(route.relays === undefined)
    },
  )

  it('throws if a handler does not compile', () => {
    expect(() => bundleHandler({ root: REPOSITORY_ROOT, folder: 'api/no-such-handler' })).toThrow('Could not resolve')
  })
})

describe('bundleHandler: kept bundles', () => {
  let root: string
  let kept: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'reelgate-built-'))
    kept = join(root, 'kept')
    mkdirSync(join(root, 'lambdas', 'f'), { recursive: true })
    write('lambdas/f/handler.ts', "export const handler = async () => (await import('./word.ts')).word\n")
    write('lambdas/f/word.ts', "export const word: string = 'first'\n")
  })
  afterEach(() => rmSync(root, { recursive: true }))

  function write(path: string, content: string): void {
    writeFileSync(join(root, path), content)
  }

  const bundle = (withSourceMaps = false) => bundleHandler({ root, folder: 'f', withSourceMaps }, kept)
  const codeOf = (built: Bundle) => built.files.map((file) => file.code).join('\n')

  /** Puts another result in the place of each kept one. */
  function tamper(change: (text: string) => string): void {
    for (const name of readdirSync(kept)) {
      writeFileSync(join(kept, name), change(readFileSync(join(kept, name), 'utf8')))
    }
  }

  it('are used while no source has changed', () => {
    expect(codeOf(bundle())).toContain('first')
    tamper((text) => text.replace('first', 'kept!'))
    expect(codeOf(bundle())).toContain('kept!')
  })

  it.each(['lambdas/f/word.ts', 'lambdas/other.ts', 'package.json', 'tsconfig.json'])(
    'are not used after a change of %s',
    (path) => {
      bundle()
      tamper((text) => text.replace('first', 'kept!'))
      write(path, path.endsWith('.json') ? '{}' : "export const word: string = 'other'\n")
      expect(codeOf(bundle())).toContain(path === 'lambdas/f/word.ts' ? 'other' : 'first')
    },
  )

  it('are not used for a bundle with source maps, nor when they are cut', () => {
    bundle()
    tamper((text) => text.replace('first', 'kept!'))
    expect(bundle(true).files.map(({ sourceMap }) => JSON.parse(sourceMap ?? '{}').sources)).toEqual([
      ['lambdas/f/handler.ts'],
      ['lambdas/f/word.ts'],
    ])
    tamper((text) => text.slice(0, 20))
    expect(codeOf(bundle())).toContain('first')
  })

  it('have the same names and code after a change of comments, also with source maps', () => {
    const deployed = (built: Bundle) => built.files.map(({ name, code: text }) => [name, text])
    const before = deployed(bundle(true))
    write('lambdas/f/word.ts', "// A comment.\nexport const word: string = 'first'\n")
    expect(deployed(bundle(true))).toEqual(before)
    expect(deployed(bundle())).toEqual(before)
    expect(before.map(([name]) => name)).toEqual(['index.mjs', expect.stringMatching(/^word-[0-9A-F]{8}\.mjs$/)])
  })
})

describe('weighBundle', () => {
  it('returns kilobytes of 1,000 bytes, of a cold start and in total', () => {
    const some = [
      { name: 'index.mjs', code: 'x'.repeat(1_500), isLoadedAtStart: true },
      { name: 'chunk.mjs', code: 'é'.repeat(1_000), isLoadedAtStart: false },
    ]
    expect(weighBundle({ files: some, inputs: [] })).toEqual({ atStart: 1.5, deployed: 3.5 })
  })
})

describe('packConsole', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pack-console-'))

  beforeAll(() => {
    mkdirSync(join(folder, 'assets'))
    writeFileSync(join(folder, 'index.html'), '<!doctype html>')
    writeFileSync(join(folder, 'icon.svg'), '<svg/>')
    writeFileSync(join(folder, 'assets', 'index-1a2b.js'), 'export {}')
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it('packs each file below the path of its url, hashed files for a year and the page uncached', () => {
    const files = JSON.parse(packConsole(folder))
    expect(files).toMatchObject([
      { key: 'console/assets/index-1a2b.js', cacheControl: 'public, max-age=31536000, immutable' },
      { key: 'console/icon.svg', contentType: 'image/svg+xml', cacheControl: 'no-store' },
      { key: 'console/index.html', contentType: 'text/html; charset=utf-8', cacheControl: 'no-store' },
    ])
    expect(Buffer.from(files[0].base64, 'base64').toString()).toBe('export {}')
  })

  it('names the files that stand beside the page', () => {
    expect(filesBesideThePage(folder)).toEqual(['/console/icon.svg'])
  })

  it('packs nothing without a build', () => {
    expect(packConsole(undefined)).toBe('[]')
    expect(filesBesideThePage(undefined)).toEqual([])
  })
})

describe('discovered endpoints', () => {
  it('stores discovered endpoints like the original cache', () => {
    const cache = new DiscoveredEndpoints(1000)
    cache.set('a', [{ Address: 'one' }])
    expect([cache.has('a'), cache.has('b'), cache.size]).toStrictEqual([true, false, 1])
    expect([cache.get('a'), cache.peek('a'), cache.peek('b')]).toStrictEqual([
      [{ Address: 'one' }],
      [{ Address: 'one' }],
      undefined,
    ])
    cache.clear()
    expect(cache.has('a')).toBe(false)
  })
})

describe('defaultProvider', () => {
  const before = { ...process.env }

  afterEach(() => {
    process.env = { ...before }
  })

  function setCredentials(accessKeyId: string, sessionToken: string): void {
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_SESSION_TOKEN: sessionToken,
    })
  }

  it('returns the credentials of the role with their session token', async () => {
    setCredentials('AKIDFIRST', 'token')
    await expect(defaultProvider()()).resolves.toEqual({
      accessKeyId: 'AKIDFIRST',
      secretAccessKey: 'secret',
      sessionToken: 'token',
    })
  })

  it('reads the environment for every request, so that credentials do not expire', async () => {
    const provide = defaultProvider()
    setCredentials('AKIDFIRST', 'first')
    await provide()
    setCredentials('AKIDSECOND', 'second')
    await expect(provide()).resolves.toMatchObject({ accessKeyId: 'AKIDSECOND', sessionToken: 'second' })
  })

  it('omits a missing session token', async () => {
    setCredentials('AKIDFIRST', '')
    await expect(defaultProvider()()).resolves.toEqual({ accessKeyId: 'AKIDFIRST', secretAccessKey: 'secret' })
  })

  it('names the missing variables', async () => {
    setCredentials('', '')
    await expect(defaultProvider()()).rejects.toThrow(MissingCredentialsError)
  })
})
