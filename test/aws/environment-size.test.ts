import { randomUUID } from 'node:crypto'
import { Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { Bucket } from 'aws-cdk-lib/aws-s3'
import { describe, expect, it } from 'vitest'
import type { GatewayConfig, OidcSettings } from '#core/catalogue/gateway-config.ts'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { environmentBytesMax, GatewayFunction, refuseLargeEnvironments } from '#stack/gateway-function.ts'
import { WEB } from './relay-template.ts'
import { createApp, resourcesOf, shippedConfiguration, stageSettings, synthesizeStack } from './synthesize-stack.ts'

/** As many origins as the configuration takes, each as long as it takes. */
const LONGEST_ORIGINS = Array.from({ length: 20 }, (_, index) => `https://${'o'.repeat(86)}${10 + index}.com`)

/** A provider whose groups have ids such as `0198b3a0-0000-7000-8000-000000000001`. */
function oidcOf(groups: number): OidcSettings {
  const ids = Array.from({ length: groups }, () => randomUUID())
  const roles = { claim: 'groups', owner: ids.slice(0, groups / 2), viewer: ids.slice(groups / 2) }
  return { issuer: 'https://login.example.com', client_id: randomUUID(), scope: 'openid email profile', roles }
}

function templateOf(change: (config: GatewayConfig) => GatewayConfig) {
  return synthesizeStack({ settings: stageSettings(WEB), config: change(shippedConfiguration.config) })
}

function synthesizeWith(value: string): Template {
  const stack = new Stack(createApp(), 'Sized')
  const { function: created } = new GatewayFunction(stack, 'Fallback', {
    sources: { root: REPOSITORY_ROOT, configurationFile: '' },
    folder: 'api/fallback',
    timeoutSeconds: 29,
    memoryMegabytes: 128,
    files: [],
  })
  created.addEnvironment('LONG', value)
  created.addEnvironment('BUCKET_NAME', new Bucket(stack, 'Bucket').bucketName)
  refuseLargeEnvironments(stack)
  return Template.fromStack(stack)
}

describe('environment-size', () => {
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
