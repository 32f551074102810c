import { describe, expect, it } from '@jest/globals'
import { bundleHandler } from '#aws/bundle-handler.ts'
import { REPOSITORY_ROOT } from '#aws/function-sources.ts'

const { code, inputs } = bundleHandler({ root: REPOSITORY_ROOT, folder: 'api/delete-video-job' })

describe('bundleHandler', () => {
  it('makes one module that exports the handler and imports nothing but Node', () => {
    expect(code).toMatch(/export\s*\{[^}]*as handler/)
    const imported = [...code.matchAll(/(?:^|;)import[^"'();]*"([^"]+)"/g)].map(([, name]) => name)
    expect(imported).toContain('node:fs')
    expect(imported.filter((name) => !/^(node:)?[a-z_/]+$/.test(name ?? ''))).toEqual([])
  })

  it('leaves out the search for credentials, which a role on Lambda never needs', () => {
    expect(inputs).toContain('lib/aws/environment-credentials.ts')
    expect(inputs.filter((file) => /credential-provider-|nested-clients/.test(file))).toEqual([])
  })

  it('takes the ES modules of the SDK', () => {
    expect(inputs).toContain('node_modules/@aws-sdk/client-s3/dist-es/S3Client.js')
    expect(inputs.filter((file) => file.includes('/dist-cjs/'))).toEqual([])
  })

  it('drops what the SDK knows of operations that the handler never calls', () => {
    expect(code).toContain('CreateInvalidation')
    expect(code).not.toContain('UpdateDistribution')
  })

  it('fails loudly when a handler does not compile', () => {
    expect(() => bundleHandler({ root: REPOSITORY_ROOT, folder: 'api/no-such-handler' })).toThrow('Could not resolve')
  })
})
