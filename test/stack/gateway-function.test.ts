import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { Bucket } from 'aws-cdk-lib/aws-s3'
import { Asset } from 'aws-cdk-lib/aws-s3-assets'
import type { GatewayConfig, OidcSettings } from '#core/catalogue/gateway-config.ts'
import { bundleHandler } from '#stack/bundle-handler.ts'
import { RELAY_SERVER } from '#stack/function-code.ts'
import { REPOSITORY_ROOT, writeConfigurationFile } from '#stack/function-sources.ts'
import {
  codeAsset,
  environmentBytesMax,
  GatewayFunction,
  refuseLargeEnvironments,
  wantsSourceMaps,
  writeSourceMaps,
} from '#stack/gateway-function.ts'
import {
  createApp,
  resourcesOf,
  shippedConfiguration,
  stageSettings,
  synthesizeStack,
  WEB,
} from './synthesize-stack.ts'

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
      folder: 'api/catalogue',
      timeoutSeconds: 29,
      memoryMegabytes: 128,
      files,
    })

    const { directory } = app.synth()

    const asset = join(directory, readdirSync(directory).find((name) => name.startsWith('asset.')) ?? '')
    // The verifier of tokens and the finder of faults in JSON are loaded when they are needed.
    const atStart = readdirSync(asset).filter((name) => !/^(token-subject|json-fault|chunk)-/.test(name))
    expect(atStart.sort()).toEqual(all)
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
        folder: 'api/catalogue',
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

describe('wantsSourceMap', () => {
  it('writes a map for each file that has one, below the folder and the hash of its code', () => {
    const app = createApp()
    const files = [
      { name: 'index.mjs', code: 'a', isLoadedAtStart: true, sourceMap: '{"version":3}' },
      { name: 'chunk.mjs', code: 'b', isLoadedAtStart: false },
    ]
    writeSourceMaps(new Stack(app, 'Mapped'), { folder: 'api/catalogue', hash: 'abc', files })
    const written = join(app.outdir, 'source-maps', 'api', 'catalogue', 'abc')
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

/** As many origins as the configuration takes, each as long as it takes. */
const LONGEST_ORIGINS = Array.from({ length: 20 }, (_, index) => `https://${'o'.repeat(86)}${10 + index}.com`)

/** A provider whose groups have ids such as `0198b3a0-0000-7000-8000-000000000001`. */
function oidcOf(groups: number): OidcSettings {
  const ids = Array.from({ length: groups }, () => randomUUID())
  const rules = [{ name: 'staff', when: { groups: ids }, role: 'viewer' as const }]
  return { issuer: 'https://login.example.com', client_id: randomUUID(), scope: 'openid email profile', rules }
}

function templateOf(change: (config: GatewayConfig) => GatewayConfig) {
  return synthesizeStack({ settings: stageSettings(WEB), config: change(shippedConfiguration.config) })
}

function synthesizeWith(value: string): Template {
  const stack = new Stack(createApp(), 'Sized')
  const { function: created } = new GatewayFunction(stack, 'Fallback', {
    sources: { root: REPOSITORY_ROOT, configurationFile: '' },
    folder: 'api/catalogue',
    timeoutSeconds: 29,
    memoryMegabytes: 128,
    files: [],
  })
  created.addEnvironment('LONG', value)
  created.addEnvironment('BUCKET_NAME', new Bucket(stack, 'Bucket').bucketName)
  refuseLargeEnvironments(stack)
  return Template.fromStack(stack)
}

describe('refuseLargeEnvironments', () => {
  it('counts names and values as JSON in bytes, and 256 characters for each name or ARN that AWS gives', () => {
    expect(environmentBytesMax({})).toBe(2)
    expect(environmentBytesMax({ A: 'é"' })).toBe('{"A":"é\\""}'.length + 1)
    expect(environmentBytesMax({ A: { Ref: 'Bucket' } })).toBe('{"A":""}'.length + 256)
    const url = { 'Fn::Join': ['', ['https://', { 'Fn::GetAtt': ['Cdn', 'DomainName'] }, '/console']] }
    expect(environmentBytesMax({ A: url })).toBe('{"A":"https:///console"}'.length + 256)
  })

  it('lets a function pass whose variables fit, whatever its names and ARNs are', () => {
    expect(() => synthesizeWith('x'.repeat(3_000))).not.toThrow()
  })

  it('refuses variables that Lambda could refuse, and says which are the longest', () => {
    expect(() => synthesizeWith('x'.repeat(4_000))).toThrow(
      /Sized\/Fallback\/Function\/Resource take up to 4\d\d\d bytes of the 4096 that Lambda allows: LONG 4000, BUCKET_NAME 256/,
    )
  })

  it('has room in every function and in the Web Function for the longest origins of a configuration', () => {
    const template = templateOf((config) => ({ ...config, cors: { origins: LONGEST_ORIGINS } }))
    const [revision] = resourcesOf(template, 'AWS::Lambda::WebFunctionRevision')
    const { CORS_ORIGINS } = Object(revision).properties.ServiceConfig.EnvironmentVariables
    expect(CORS_ORIGINS).toHaveLength(20 * 100 + 19)
  })

  it('stops a synth for more groups of an OpenID provider than the variables of the sign-in take', () => {
    expect(() => templateOf((config) => ({ ...config, console: { oidc: oidcOf(40) } }))).not.toThrow()
    expect(() => templateOf((config) => ({ ...config, console: { oidc: oidcOf(100) } }))).toThrow(
      /AdminApi\/SignIn\/Function\/Resource take up to \d+ bytes of the 4096 that Lambda allows: CONSOLE_OIDC \d+/,
    )
  })
})

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
