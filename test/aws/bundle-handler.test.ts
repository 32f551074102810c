import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bundleHandler } from '#aws/bundle-handler.ts'
import { REPOSITORY_ROOT } from '#aws/function-sources.ts'
import { isRelayed, ROUTES, type Route } from '#core/contract/routes.ts'

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
    expect(inputs).toContain('lib/aws/environment-credentials.ts')
    expect(inputs.filter((file) => /credential-provider-|nested-clients/.test(file))).toEqual([])
  })

  it('omits the SDK’s cache of discovered endpoints', () => {
    expect(inputs).toContain('lib/aws/discovered-endpoints.ts')
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
      expect(hasSdk).toBe(!isRelayed(route))
    },
  )

  it('gives the same files when nothing is kept of earlier builds', () => {
    const keptIn = mkdtempSync(join(tmpdir(), 'reelgate-built-'))
    const relayServer = { root: REPOSITORY_ROOT, folder: 'relay-server', entry: 'main.ts', withSourceMaps: true }
    expect(bundleHandler({ ...relayServer, keptIn })).toEqual(bundleHandler(relayServer))
    rmSync(keptIn, { recursive: true })
  })

  it('throws if a handler does not compile', () => {
    expect(() => bundleHandler({ root: REPOSITORY_ROOT, folder: 'api/no-such-handler' })).toThrow('Could not resolve')
  })
})
