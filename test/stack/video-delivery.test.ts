import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { KeyGroup } from 'aws-cdk-lib/aws-cloudfront'
import { AwsSolutionsChecks } from 'cdk-nag'
import { VideoBucket } from '#stack/buckets.ts'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import {
  accountWide,
  BroughtSigningKeys,
  CdnSigningKey,
  type SigningKeyResources,
  VideoCdn,
} from '#stack/video-delivery.ts'
import { emulatorStackProps } from '../../lib/cli/emulator.ts'
import type { CustomDomain } from '../../lib/config/stage-settings.ts'
import {
  createStack,
  folderOf,
  resourcesOf,
  shippedConfiguration,
  stageSettings,
  synthesizeAlone,
} from './synthesize-stack.ts'

describe('video delivery', () => {
  const ENVIRONMENT = {
    AWS_ENDPOINT_URL: 'http://127.0.0.1:4566/',
    AWS_ENDPOINT_URL_S3: 'http://s3.localhost:4566',
    AWS_SECRET_ACCESS_KEY: 'test',
  }
  const template = Template.fromStack(
    createStack({
      settings: stageSettings({ profile: 'dev', emulator: 'true' }),
      ...emulatorStackProps(shippedConfiguration.config, ENVIRONMENT),
    }),
  )
  const resources = Object.values(template.toJSON().Resources as Record<string, { Type: string }>)

  function variablesOf(folder: string): Record<string, unknown> {
    const found = resourcesOf(template, 'AWS::Lambda::Function').find(
      ({ properties }) => folderOf(properties) === folder,
    )
    return found?.properties.Environment.Variables
  }

  describe('the stack on an emulator', () => {
    it('has no CDN and no resource that only a CDN needs', () => {
      expect(
        resources.map(({ Type }) => Type).filter((type) => /CloudFront|^Custom::|CustomResource/.test(type)),
      ).toEqual([])
      expect(template.toJSON().Outputs.VideoBaseUrl).toBeUndefined()
      const told = resourcesOf(template, 'AWS::Lambda::Function').flatMap(({ properties }) =>
        Object.keys(properties.Environment.Variables),
      )
      expect(told.filter((name) => /^CDN_|DISTRIBUTION/.test(name))).toEqual([])
    })

    it('has no alarms, graphs or streamed responses, which emulators do not support', () => {
      expect(resources.map(({ Type }) => Type).filter((type) => type.startsWith('AWS::CloudWatch::'))).toEqual([])
      const handlers = resourcesOf(template, 'AWS::Lambda::Function').map(({ properties }) => properties.Handler)
      expect(new Set(handlers)).toEqual(new Set(['index.handler']))
    })

    it.each(['api/get-video-job', 'api/list-video-jobs', 'pipeline/notify'])(
      'allows %s to presign urls of the bucket',
      (folder) => {
        expect(variablesOf(folder)).toMatchObject({ VIDEO_DELIVERY: 'bucket', BUCKET_NAME: expect.anything() })
      },
    )

    it('allows only functions that presign to read videos', () => {
      const readers = resourcesOf(template, 'AWS::IAM::Policy').filter(({ properties }) =>
        properties.PolicyDocument.Statement.some(
          ({ Action, Resource }: { Action: string | string[]; Resource: unknown }) =>
            [Action].flat().includes('s3:GetObject') && JSON.stringify(Resource).includes('"/v/*"'),
        ),
      )
      const names = readers.map(({ id }) => /GetVideoJob|ListVideoJobs|ResendVideoCallback|Webhook/.exec(id)?.[0] ?? id)
      expect(names.sort()).toEqual(['GetVideoJob', 'ListVideoJobs', 'ResendVideoCallback', 'Webhook'])
    })

    it('passes the endpoint of a single service to every function, and never a credential', () => {
      for (const { properties } of resourcesOf(template, 'AWS::Lambda::Function')) {
        expect(properties.Environment.Variables).toMatchObject({ AWS_ENDPOINT_URL_S3: 'http://s3.localhost:4566' })
        expect(Object.keys(properties.Environment.Variables).join()).not.toMatch(/AWS_ENDPOINT_URL,|SECRET_ACCESS/)
      }
    })

    it('outputs the address of the API on the emulator', () => {
      const [, parts] = template.toJSON().Outputs.BaseUrl.Value['Fn::Join']
      expect(parts[0]).toBe('http://127.0.0.1:4566/_aws/execute-api/')
      expect(parts.at(-1)).toBe('/live/')
    })
  })

  describe('the stack with cdn=off', () => {
    const stack = createStack({ settings: stageSettings({ cdn: 'off', console: undefined }) })
    const { Resources, Outputs } = Template.fromStack(stack).toJSON() as {
      Resources: Record<
        string,
        { Type: string; Properties?: { Handler?: string; Environment?: { Variables: object } } }
      >
      Outputs: Record<string, unknown>
    }
    const found = Object.values(Resources)

    it('has nothing of CloudFront, of the console or of the front door', () => {
      expect(found.map(({ Type }) => Type).filter((type) => /CloudFront|^Custom::|CustomResource/.test(type))).toEqual(
        [],
      )
      expect(Object.keys(Outputs).filter((name) => /Video|Console|FrontDoor|Cdn|Relay/.test(name))).toEqual([])
      const variables = found.flatMap(({ Properties }) => Object.keys(Properties?.Environment?.Variables ?? {}))
      expect(variables.filter((name) => /^CDN_|FRONT_DOOR|CONSOLE|DISTRIBUTION/.test(name))).toEqual([])
      expect(JSON.stringify(Resources)).not.toContain('FrontDoor')
    })

    it('presigns urls of the bucket, and has alarms, graphs and streams like any other', () => {
      const variables = found.flatMap(({ Properties }) => Properties?.Environment?.Variables ?? [])
      expect(variables).toContainEqual(expect.objectContaining({ VIDEO_DELIVERY: 'bucket' }))
      const types = found.map(({ Type }) => Type)
      expect(types).toEqual(expect.arrayContaining(['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::Dashboard']))
      expect(found.map(({ Properties }) => Properties?.Handler)).toContain('index.streamHandler')
    })

    it('passes every AwsSolutions rule or says why not', () => {
      expect(new AwsSolutionsChecks().validateScope(stack).violations).toEqual([])
    })
  })

  it('trusts the downloads of the upstreams of an emulator deployment, and of no other stage', () => {
    const { config } = emulatorStackProps(shippedConfiguration.config, {})
    expect(config.trusted_origins).toEqual([
      'https://p1.example.com',
      'https://p2.example.com',
      'https://international.example.com',
      'https://proxy.example.com',
    ])
    expect(shippedConfiguration.config.trusted_origins).toEqual([])
  })
})

describe('VideoCdn', () => {
  function synthesizeCdn(customDomain?: CustomDomain, corsOrigins: readonly string[] = []) {
    return synthesizeAlone((stack) => {
      const { bucket } = new VideoBucket(stack, 'VideoBucket', {
        outlivesStack: true,
        isEmptiedAtEnd: false,
        corsOrigins,
      })
      const keyGroup = KeyGroup.fromKeyGroupId(stack, 'KeyGroup', 'group-1')
      new VideoCdn(stack, 'VideoCdn', {
        bucket,
        keyGroup,
        customDomain,
        isOpenToBrowsers: corsOrigins.length > 0,
        isFrontDoor: false,
      })
    })
  }

  function configurationOf(template: ReturnType<typeof synthesizeCdn>) {
    return resourcesOf(template, 'AWS::CloudFront::Distribution')[0]?.properties.DistributionConfig
  }

  const template = synthesizeCdn()
  const configuration = configurationOf(template)

  it('serves nothing without a signature by the key group', () => {
    expect(configuration.DefaultCacheBehavior.TrustedKeyGroups).toEqual(['group-1'])
    expect(configuration.CacheBehaviors).toBeUndefined()
  })

  it('caches nothing, so that a deleted video is not served again', () => {
    // AWS's policy CachingDisabled: all three lifetimes are 0. With a lifetime of 1 s or more even `private` is kept so long.
    expect(configuration.DefaultCacheBehavior.CachePolicyId).toBe('4135ea2d-6df8-44a3-9df3-4b5a84be39ad')
  })

  it('serves https only', () => {
    expect(configuration.DefaultCacheBehavior.ViewerProtocolPolicy).toBe('https-only')
  })

  it('reads the bucket with its own signed requests', () => {
    const [control] = resourcesOf(template, 'AWS::CloudFront::OriginAccessControl')
    expect(control?.properties.OriginAccessControlConfig).toMatchObject({
      OriginAccessControlOriginType: 's3',
      SigningBehavior: 'always',
      SigningProtocol: 'sigv4',
    })
    expect(configuration.Origins).toHaveLength(1)
    expect(configuration.Origins[0].OriginAccessControlId).toEqual({ 'Fn::GetAtt': [control?.id, 'Id'] })
  })

  it('forbids browsers to guess content types', () => {
    const [policy] = resourcesOf(template, 'AWS::CloudFront::ResponseHeadersPolicy')
    expect(policy?.properties.ResponseHeadersPolicyConfig.SecurityHeadersConfig.ContentTypeOptions).toEqual({
      Override: true,
    })
    expect(configuration.DefaultCacheBehavior.ResponseHeadersPolicyId).toEqual({ Ref: policy?.id })
  })

  it('serves no preflight and forwards no origin where the configuration allows none', () => {
    expect(configuration.DefaultCacheBehavior.AllowedMethods).toEqual(['GET', 'HEAD'])
    expect(configuration.DefaultCacheBehavior).not.toHaveProperty('OriginRequestPolicyId')
  })

  it('lets the bucket decide about origins: preflights reach it with all that a browser says of them', () => {
    const { DefaultCacheBehavior: behavior } = configurationOf(synthesizeCdn(undefined, ['https://app.example.com']))
    expect(behavior.AllowedMethods).toEqual(['GET', 'HEAD', 'OPTIONS'])
    // AWS's policy CORS-S3Origin: Origin, Access-Control-Request-Headers and Access-Control-Request-Method.
    expect(behavior.OriginRequestPolicyId).toBe('88a5eaf4-2fd4-4709-b370-b4c650ea3fcf')
    expect(behavior.TrustedKeyGroups).toEqual(['group-1'])
  })

  it('requires TLS 1.2 on a custom domain', () => {
    const certificateArn = 'arn:aws:acm:us-east-1:111111111111:certificate/0198b3a0'
    const ownDomain = configurationOf(synthesizeCdn({ domainName: 'videos.example.com', certificateArn }))
    expect(ownDomain.Aliases).toEqual(['videos.example.com'])
    expect(ownDomain.ViewerCertificate).toMatchObject({
      AcmCertificateArn: certificateArn,
      MinimumProtocolVersion: 'TLSv1.2_2021',
    })
  })
})

const newPublicKey = () =>
  generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'pem' }).toString()

describe('generated signing keys', () => {
  const template = synthesizeAlone((stack) => {
    new CdnSigningKey(stack, 'CdnSigningKey', { root: REPOSITORY_ROOT, configurationFile: 'gateway.json' })
  })
  const [group] = resourcesOf(template, 'Custom::CdnKeyGroup')
  const [maker] = resourcesOf(template, 'AWS::Lambda::Function')
  const [secret] = resourcesOf(template, 'AWS::SecretsManager::Secret')
  const statements: { Action: string[]; Resource: unknown }[] = resourcesOf(template, 'AWS::IAM::Policy').flatMap(
    ({ properties }) => properties.PolicyDocument.Statement,
  )
  const actionsOf = (service: string) =>
    statements.flatMap(({ Action }) => Action).filter((action) => action.startsWith(`${service}:`))

  it('come from a function that can change only this secret, public keys and key groups', () => {
    expect(statements.find(({ Action }) => Action[0]?.startsWith('secretsmanager:'))).toMatchObject({
      Action: ['GetSecretValue', 'PutSecretValue', 'UpdateSecretVersionStage'].map((name) => `secretsmanager:${name}`),
      Resource: { Ref: secret?.id },
    })
    const groupActions = ['CreateKeyGroup', 'DeleteKeyGroup', 'GetKeyGroup', 'ListKeyGroups', 'UpdateKeyGroup']
    const keyActions = ['CreatePublicKey', 'DeletePublicKey', 'GetPublicKey', 'ListPublicKeys']
    expect(actionsOf('cloudfront').sort()).toEqual(
      [...groupActions, ...keyActions].map((name) => `cloudfront:${name}`).sort(),
    )
    const services = statements.flatMap(({ Action }) => Action).map((action) => action.split(':')[0])
    expect([...new Set(services)].sort()).toEqual(['cloudfront', 'logs', 'secretsmanager', 'xray'])
  })

  it('depend on the permissions of the function, which are deleted after them', () => {
    const resource = Object.values(template.findResources('Custom::CdnKeyGroup'))[0]
    const policies = resourcesOf(template, 'AWS::IAM::Policy').map(({ id }) => id)
    expect(resource?.DependsOn).toEqual(expect.arrayContaining(policies))
  })

  it('are in a key group whose name is unique to the stack and region', () => {
    const name = group?.properties.KeyGroupName
    expect(name).toEqual({
      'Fn::Join': ['', [{ Ref: 'AWS::StackName' }, '-video-urls-', { Ref: 'AWS::Region' }]],
    })
    expect(maker?.properties.Environment.Variables).toMatchObject({
      CDN_KEY_GROUP_NAME: name,
      CDN_SIGNING_KEY_SECRET_ARN: { Ref: secret?.id },
    })
  })

  it('start from an empty secret, and the template contains no key', () => {
    expect(secret?.properties.SecretString).toBe('{}')
    expect(JSON.stringify(template.toJSON())).not.toMatch(/BEGIN|PublicKeyPem/)
  })
})

describe('signing keys of the team', () => {
  const pems = [newPublicKey(), newPublicKey()]
  const made: SigningKeyResources[] = []
  const synthesizeKeys = (publicKeyPems: readonly string[]) =>
    synthesizeAlone((stack) => made.push(new BroughtSigningKeys(stack, 'CdnSigningKey', publicKeyPems)))
  const template = synthesizeKeys(pems)
  const publicKeys = resourcesOf(template, 'AWS::CloudFront::PublicKey')

  it('are public keys in one group, with an empty secret for the private keys', () => {
    expect(publicKeys.map(({ properties }) => properties.PublicKeyConfig.EncodedKey)).toEqual(pems)
    const [group] = resourcesOf(template, 'AWS::CloudFront::KeyGroup')
    expect(group?.properties.KeyGroupConfig.Items).toEqual(publicKeys.map(({ id }) => ({ Ref: id })))
    expect(
      resourcesOf(template, 'AWS::SecretsManager::Secret').map(({ properties }) => properties.SecretString),
    ).toEqual(['{}'])
  })

  it('need no function', () => {
    expect(resourcesOf(template, 'AWS::Lambda::Function')).toEqual([])
    expect(made[0]?.functionName).toBeUndefined()
  })

  it('keep their resources when another key is added before them', () => {
    const added = resourcesOf(synthesizeKeys([newPublicKey(), ...pems]), 'AWS::CloudFront::PublicKey')
    for (const { id, properties } of publicKeys) {
      expect(added.find((each) => each.id === id)?.properties.PublicKeyConfig.EncodedKey).toBe(
        properties.PublicKeyConfig.EncodedKey,
      )
    }
    expect(added).toHaveLength(3)
  })
})

describe('accountWide', () => {
  it('names stack and region, because CloudFront has one set of names for an account', () => {
    const parts = [{ Ref: 'AWS::StackName' }, '-relay-', { Ref: 'AWS::Region' }]
    expect(new Stack().resolve(accountWide('relay'))).toEqual({ 'Fn::Join': ['', parts] })
  })
})
