import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Stack } from 'aws-cdk-lib'
import { describe, expect, it } from 'vitest'
import { REPOSITORY_ROOT, writeConfigurationFile } from '#stack/function-sources.ts'
import { GatewayFunction } from '#stack/gateway-function.ts'
import { createApp, resourcesOf, shippedConfiguration, synthesizeStack } from './synthesize-stack.ts'

const template = synthesizeStack()
const functions = resourcesOf(template, 'AWS::Lambda::Function')
const roles = resourcesOf(template, 'AWS::IAM::Role')

describe('GatewayFunction', () => {
  it('has one runtime and one architecture for every function of the stack', () => {
    const kinds = functions.map(({ properties }) => `${properties.Runtime} ${properties.Architectures}`)
    expect([...new Set(kinds)]).toEqual(['nodejs24.x arm64'])
  })

  it('gives each function its own role', () => {
    const used = functions.map(({ properties }) => properties.Role['Fn::GetAtt'][0])
    expect(new Set(used).size).toBe(functions.length)
  })

  it('gives each function its own log group, the only one that its role can write', () => {
    const groups = functions.map(({ properties }) => properties.LoggingConfig.LogGroup.Ref)
    expect(new Set(groups).size).toBe(functions.length)
    const writes = resourcesOf(template, 'AWS::IAM::Policy').flatMap(({ properties }) =>
      properties.PolicyDocument.Statement.filter((statement: { Action: string[] }) =>
        statement.Action.includes('logs:PutLogEvents'),
      ).map((statement: { Resource: unknown }) => statement.Resource),
    )
    expect(writes).toHaveLength(functions.length)
    expect(writes).toEqual(expect.arrayContaining(groups.map((group) => ({ 'Fn::GetAtt': [group, 'Arn'] }))))
  })

  it('uses no managed policy for functions', () => {
    const used = new Set(functions.map(({ properties }) => properties.Role['Fn::GetAtt'][0]))
    const managed = roles.filter(({ id, properties }) => used.has(id) && properties.ManagedPolicyArns !== undefined)
    expect(managed).toEqual([])
  })

  it('traces every function', () => {
    for (const { properties } of functions) {
      expect(properties.TracingConfig).toEqual({ Mode: 'Active' })
    }
  })

  it('reads no source maps at run time', () => {
    expect(JSON.stringify(functions)).not.toContain('enable-source-maps')
  })
})

describe('the code of a function', () => {
  it.each([
    [[], ['index.mjs']],
    [['gateway.json'], ['gateway.json', 'index.mjs']],
    [
      ['gateway.json', 'cl100k_base.json'],
      ['cl100k_base.json', 'gateway.json', 'index.mjs'],
    ],
  ] as const)('is one ES module without a source map, and ships %p', (files, all) => {
    const app = createApp({ bundledStacks: ['Bundled'] })
    const stack = new Stack(app, 'Bundled')
    const configurationFile = writeConfigurationFile(stack, shippedConfiguration.config)
    new GatewayFunction(stack, 'Fallback', {
      sources: { root: REPOSITORY_ROOT, configurationFile },
      folder: 'api/fallback',
      timeoutSeconds: 29,
      memoryMegabytes: 128,
      files,
    })

    const { directory } = app.synth()

    const asset = join(directory, readdirSync(directory).find((name) => name.startsWith('asset.')) ?? '')
    expect(readdirSync(asset).sort()).toEqual(all)
    expect(readFileSync(join(asset, 'index.mjs'), 'utf8')).toMatch(/export\s*\{[^}]*as handler/)
    const shipped = Object.fromEntries(
      files.map((name) => [name, JSON.parse(readFileSync(join(asset, name), 'utf8'))] as const),
    )
    expect(shipped).toEqual({
      ...(all.length > 1 ? { 'gateway.json': shippedConfiguration.config } : {}),
      ...(all.length > 2 ? { 'cl100k_base.json': expect.objectContaining({ encoding: 'cl100k_base' }) } : {}),
    })
  })

  it.each([true, false])(
    'has source maps beside it in the assembly, unless the app leaves them out: %p',
    (withSourceMaps) => {
      const app = createApp({ bundledStacks: ['Mapped'], withSourceMaps })
      new GatewayFunction(new Stack(app, 'Mapped'), 'Fallback', {
        sources: { root: REPOSITORY_ROOT, configurationFile: '' },
        folder: 'api/fallback',
        timeoutSeconds: 29,
        memoryMegabytes: 128,
        files: [],
      })
      expect(existsSync(join(app.synth().directory, 'source-maps'))).toBe(withSourceMaps)
    },
  )
})

describe('ServiceLogGroup', () => {
  it('keeps every log of the stack for a month', () => {
    const retentions = resourcesOf(template, 'AWS::Logs::LogGroup').map(({ properties }) => properties.RetentionInDays)
    expect([...new Set(retentions)]).toEqual([30])
  })
})
