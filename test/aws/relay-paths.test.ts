import type { Template } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { VIEWER_ADDRESS_CODE } from '#aws/front-door-functions.ts'
import { RELAY_PATHS } from '#aws/relay-paths.ts'
import { ROUTES } from '#core/contract/routes.ts'
import { relayRouteOf } from '#lambdas/relay-server/relay-routes.ts'
import { EVERY_SETTING } from './every-setting.ts'
import { relayResource, synthesizeRelay, WEB } from './relay-template.ts'
import { resourcesOf } from './synthesize-stack.ts'

const template = synthesizeRelay()
const closed = synthesizeRelay({
  relayOriginAccessControl: 'true',
  frontDoorSecretVersion: EVERY_SETTING.frontDoorSecretVersion,
})

function distributionOf(of: Template) {
  const [distribution] = resourcesOf(of, 'AWS::CloudFront::Distribution')
  return { id: distribution?.id, config: distribution?.properties.DistributionConfig }
}

type Behavior = Readonly<Record<string, unknown>> & { readonly PathPattern: string; readonly TargetOriginId: string }

const behaviors: Behavior[] = distributionOf(template).config.CacheBehaviors

/** The behavior of a path: CloudFront takes the first pattern that matches (Developer Guide, "Path pattern"). */
function behaviorOf(path: string, all = behaviors): Behavior | undefined {
  const matches = (pattern: string) =>
    new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('.', '[^]')}$`).test(path)
  return all.find(({ PathPattern }) => matches(PathPattern))
}

function originOf(of: Template, path: string) {
  const { CacheBehaviors, Origins } = distributionOf(of).config
  return Origins.find(({ Id }: { Id: string }) => Id === behaviorOf(path, CacheBehaviors)?.TargetOriginId)
}

const relayOrigin = originOf(template, '/v1/chat/completions')

describe('addRelayPaths', () => {
  it.each(ROUTES.map(({ method, path }) => [method, path.replaceAll(/\{\w+\}/g, 'some-id')] as const))(
    'send %s %s to the relay server if it serves the route, else to the API',
    (method, path) => {
      const isServed = relayRouteOf(method, path) !== undefined
      expect(behaviorOf(path)?.TargetOriginId === relayOrigin.Id).toBe(isServed)
    },
  )

  it.each([
    '/v1/video/generations',
    '/v1/video/generations/some-id/chat/completions',
    '/v1/chat/completions/',
    '/v1/images/generations/some-id',
    '/v1/modelsx',
    '/health',
    '/admin/models',
  ])('leave %s to the API', (path) => {
    expect(behaviorOf(path)?.TargetOriginId).not.toBe(relayOrigin.Id)
  })

  it('stand before the paths of the API', () => {
    const patterns = behaviors.map(({ PathPattern }) => PathPattern)
    expect(patterns).toEqual([
      ...['/console', '/console/*'],
      ...RELAY_PATHS,
      ...['/admin/*', '/v1/*', '/health', '/openapi.json'],
    ])
  })

  it.each(RELAY_PATHS)('pass %s with every method, uncached and unchanged', (path) => {
    expect(behaviors.find(({ PathPattern }) => PathPattern === path)).toMatchObject({
      AllowedMethods: ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE'],
      // AWS's policies CachingDisabled and AllViewerExceptHostHeader: an endpoint knows its own host alone.
      CachePolicyId: '4135ea2d-6df8-44a3-9df3-4b5a84be39ad',
      OriginRequestPolicyId: 'b689b0a8-53d0-40ab-baf2-68738e2966ac',
      Compress: false,
      ViewerProtocolPolicy: 'https-only',
    })
  })

  it('reach the endpoint prod over TLS, keep its connections, and wait 120 seconds for the next byte of a response without an end', () => {
    expect(relayOrigin).toMatchObject({
      DomainName: {
        'Fn::GetAtt': [relayResource(template, 'AWS::Lambda::WebFunctionEndpoint', 'Prod').id, 'DomainName'],
      },
      CustomOriginConfig: {
        OriginProtocolPolicy: 'https-only',
        OriginSSLProtocols: ['TLSv1.2'],
        OriginReadTimeout: 120,
        OriginKeepaliveTimeout: 60,
      },
    })
    expect(relayOrigin).not.toHaveProperty('ResponseCompletionTimeout')
  })

  it('prove the front door by the secret that the API gets, also while it is replaced', () => {
    for (const each of [template, closed]) {
      expect(originOf(each, '/v1/models').OriginCustomHeaders).toEqual(originOf(each, '/health').OriginCustomHeaders)
    }
    expect(JSON.stringify(relayOrigin.OriginCustomHeaders)).toContain(':SecretString:current::}}')
  })

  it('tell the address of the viewer by the header of the front door', () => {
    const [association] = Object(behaviorOf('/v1/models')?.FunctionAssociations)
    const [id] = association.FunctionARN['Fn::GetAtt']
    const edge = resourcesOf(template, 'AWS::CloudFront::Function').find((each) => each.id === id)
    expect(edge?.properties.FunctionCode).toBe(VIEWER_ADDRESS_CODE)
  })

  it('are behind the web ACL of the distribution', () => {
    expect(distributionOf(template).config.WebACLId).toBe(WEB.frontDoorWebAclArn)
  })
})

describe('relayOriginAccessControl', () => {
  const endpoint = relayResource(closed, 'AWS::Lambda::WebFunctionEndpoint', 'Prod')

  it('is off, so that the secret alone proves the front door', () => {
    expect(relayOrigin).not.toHaveProperty('OriginAccessControlId')
    expect(resourcesOf(template, 'AWS::Lambda::ResourcePolicy')).toEqual([])
  })

  it('signs in headers of its own, and only the endpoint of clients demands it', () => {
    const { OriginAccessControlId } = originOf(closed, '/v1/models')
    const control = resourcesOf(closed, 'AWS::CloudFront::OriginAccessControl').find(
      ({ id }) => id === OriginAccessControlId['Fn::GetAtt'][0],
    )
    expect(control?.properties.OriginAccessControlConfig).toMatchObject({
      OriginAccessControlOriginType: 'lambda',
      SigningBehavior: 'always-amz-auth',
      SigningProtocol: 'sigv4',
    })
    expect(endpoint.properties.AuthType).toBe('IamAuth')
    expect(relayResource(closed, 'AWS::Lambda::WebFunctionEndpoint', 'Candidate').properties.AuthType).toBe(
      'ApplicationManaged',
    )
  })

  it('lets this distribution alone call this endpoint alone', () => {
    const [policy] = resourcesOf(closed, 'AWS::Lambda::ResourcePolicy')
    const { id } = distributionOf(closed)
    const distribution = ['arn:', { Ref: 'AWS::Partition' }, ':cloudfront::', { Ref: 'AWS::AccountId' }]
    expect(policy?.properties).toEqual({
      ResourceArn: { 'Fn::GetAtt': [relayResource(closed, 'AWS::Lambda::WebFunction').id, 'FunctionArn'] },
      PolicyDocument: {
        Version: '2012-10-17',
        Statement: [
          {
            Effect: 'Allow',
            Principal: { Service: 'cloudfront.amazonaws.com' },
            Action: 'lambda:InvokeWebFunctionEndpoint',
            Resource: { 'Fn::GetAtt': [endpoint.id, 'EndpointArn'] },
            Condition: {
              ArnLike: { 'aws:SourceArn': { 'Fn::Join': ['', [...distribution, ':distribution/', { Ref: id }]] } },
            },
          },
        ],
      },
    })
  })

  it('forwards the key of a client with a GET, and still keeps nothing', () => {
    const { CachePolicyId } = distributionOf(closed).config.CacheBehaviors.find(
      ({ PathPattern }: Behavior) => PathPattern === '/v1/models',
    )
    const cache = resourcesOf(closed, 'AWS::CloudFront::CachePolicy').find(({ id }) => id === CachePolicyId.Ref)
    expect(cache?.properties.CachePolicyConfig).toMatchObject({
      DefaultTTL: 0,
      MinTTL: 0,
      MaxTTL: 1,
      ParametersInCacheKeyAndForwardedToOrigin: {
        HeadersConfig: { HeaderBehavior: 'whitelist', Headers: ['Authorization'] },
      },
    })
  })
})
