import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Stack } from 'aws-cdk-lib'
import { describe, expect, it } from 'vitest'
import { REPOSITORY_ROOT, writeConfigurationFile } from '#stack/function-sources.ts'
import { createApp, shippedConfiguration } from './synthesize-stack.ts'

describe('function-sources', () => {
  it('uses the checkout as root', () => {
    expect(existsSync(join(REPOSITORY_ROOT, 'package.json'))).toBe(true)
  })

  it('writes one configuration file per stack into the cloud assembly', () => {
    const app = createApp()
    const [dev, prod] = ['dev', 'prod'].map((name) =>
      writeConfigurationFile(new Stack(app, name), shippedConfiguration.config),
    )
    expect(dev).not.toBe(prod)
    expect(dev?.startsWith(app.outdir)).toBe(true)
    expect(JSON.parse(readFileSync(String(dev), 'utf8'))).toEqual(shippedConfiguration.config)
  })
})
