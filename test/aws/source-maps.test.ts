import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Stack } from 'aws-cdk-lib'
import { Asset } from 'aws-cdk-lib/aws-s3-assets'
import { describe, expect, it } from 'vitest'
import { bundleHandler, RELAY_SERVER } from '#stack/function-code.ts'
import { REPOSITORY_ROOT, writeConfigurationFile } from '#stack/function-sources.ts'
import { codeAsset, wantsSourceMaps, writeSourceMaps } from '#stack/gateway-function.ts'
import { createApp, shippedConfiguration } from './synthesize-stack.ts'

describe('source-maps', () => {
  it('writes a map for each file that has one, below the folder and the hash of its code', () => {
    const app = createApp()
    const files = [
      { name: 'index.mjs', code: 'a', isLoadedAtStart: true, sourceMap: '{"version":3}' },
      { name: 'chunk.mjs', code: 'b', isLoadedAtStart: false },
    ]
    writeSourceMaps(new Stack(app, 'Mapped'), { folder: 'api/fallback', hash: 'abc', files })
    const written = join(app.outdir, 'source-maps', 'api', 'fallback', 'abc')
    expect(readdirSync(written)).toEqual(['index.mjs.map'])
    expect(readFileSync(join(written, 'index.mjs.map'), 'utf8')).toBe('{"version":3}')
  })

  it.each([true, false])('are wanted unless the app leaves them out: %s', (withSourceMaps) => {
    expect(wantsSourceMaps(new Stack(createApp({ withSourceMaps }), 'Mapped'))).toBe(withSourceMaps)
  })

  it('has the maps of a module under the hash of its asset, which the template names', () => {
    const app = createApp({ bundledStacks: ['Relay'] })
    const stack = new Stack(app, 'Relay')
    const configurationFile = writeConfigurationFile(stack, shippedConfiguration.config)
    const sources = { root: REPOSITORY_ROOT, configurationFile }
    const { path, options, assetOf } = codeAsset(stack, { ...RELAY_SERVER, sources })
    const { assetHash } = new Asset(stack, 'Code', { path, ...options })
    assetOf(stack)
    expect(readdirSync(join(app.outdir, 'source-maps', RELAY_SERVER.folder))).toEqual([assetHash])
    const maps = readdirSync(join(app.outdir, 'source-maps', RELAY_SERVER.folder, assetHash))
    expect(maps).toContain('index.mjs.map')
  })

  it('maps the same code as is deployed without maps', () => {
    const codeOf = (withSourceMaps: boolean) =>
      bundleHandler({ root: REPOSITORY_ROOT, ...RELAY_SERVER, withSourceMaps }).files.map(({ name, code }) => [
        name,
        code,
      ])
    expect(codeOf(true)).toEqual(codeOf(false))
  })
})
