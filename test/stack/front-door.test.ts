import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { Template } from 'aws-cdk-lib/assertions'
import { AwsSolutionsChecks } from 'cdk-nag'
import { ALL_ADMIN_ROUTES } from '#lambdas/admin/routes.ts'
import { consolePathCode, VIEWER_ADDRESS_CODE } from '#stack/front-door.ts'
import { consoleHeaders } from '../../lib/console/console-files.ts'
import { EVERY_SETTING } from './every-setting.ts'
import { createStack, folderOf, resourcesOf, shippedConfiguration, stageSettings } from './synthesize-stack.ts'

const stack = createStack({ settings: stageSettings({ console: 'on' }) })
const template = Template.fromStack(stack)
const without = Template.fromStack(createStack())
const oidc = {
  issuer: 'https://login.example.com',
  client_id: 'console',
  scope: 'openid email profile',
  rules: [{ name: 'admins', when: { groups: 'admins' }, role: 'owner' as const }],
}
const everything = Template.fromStack(
  createStack({
    settings: stageSettings(EVERY_SETTING),
    config: { ...shippedConfiguration.config, console: { oidc } },
  }),
)

type Behavior = {
  readonly PathPattern: string
  readonly AllowedMethods: string[]
  readonly TargetOriginId: string
  readonly FunctionAssociations: { FunctionARN: { 'Fn::GetAtt': string[] } }[]
}

function distributionOf(of: Template) {
  const [distribution] = resourcesOf(of, 'AWS::CloudFront::Distribution')
  return { id: distribution?.id, config: distribution?.properties.DistributionConfig }
}

const { config } = distributionOf(template)
const behaviors: Behavior[] = config.CacheBehaviors
const apiOrigin = originOf(template, '/v1/*')

function behaviorOf(of: Template, path: string): Behavior {
  return distributionOf(of).config.CacheBehaviors.find(({ PathPattern }: Behavior) => PathPattern === path)
}

function originOf(of: Template, path: string) {
  const { TargetOriginId } = behaviorOf(of, path)
  return distributionOf(of).config.Origins.find(({ Id }: { Id: string }) => Id === TargetOriginId)
}

type EdgeRequest = { uri: string; headers: Record<string, { value: string }> }

/** Runs the code of a CloudFront Function. */
function runEdge(code: string, request: EdgeRequest, ip = '203.0.113.9'): EdgeRequest {
  const handler = new Function(`${code}\nreturn handler`)()
  return handler({ request, viewer: { ip } })
}

describe('FrontDoor', () => {
  it('serves the console, its API and the API beside the videos', () => {
    const paths = behaviors.map(({ PathPattern }) => PathPattern)
    expect(paths).toEqual(['/console', '/console/*', '/admin/*', '/v1/*', '/health', '/openapi.json'])
  })

  it('leaves the videos as they are, behind signed urls', () => {
    expect(config.DefaultCacheBehavior).toEqual(distributionOf(without).config.DefaultCacheBehavior)
    expect(config.DefaultCacheBehavior.TrustedKeyGroups).toHaveLength(1)
  })

  it.each(['/admin/*', '/v1/*', '/health', '/openapi.json'])('passes %s to the API, uncached and unchanged', (path) => {
    expect(behaviorOf(template, path)).toMatchObject({
      AllowedMethods: ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE'],
      // AWS's policies CachingDisabled and AllViewerExceptHostHeader.
      CachePolicyId: '4135ea2d-6df8-44a3-9df3-4b5a84be39ad',
      OriginRequestPolicyId: 'b689b0a8-53d0-40ab-baf2-68738e2966ac',
      Compress: false,
      ViewerProtocolPolicy: 'https-only',
      TargetOriginId: apiOrigin.Id,
    })
    expect(behaviorOf(template, path)).not.toHaveProperty('ResponseHeadersPolicyId')
  })

  it('keeps no error, because the next request of its path may be of another tenant', () => {
    const statuses = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504]
    expect(config.CustomErrorResponses).toEqual(statuses.map((ErrorCode) => ({ ErrorCode, ErrorCachingMinTTL: 0 })))
    expect(distributionOf(without).config).not.toHaveProperty('CustomErrorResponses')
  })

  it('reaches the stage of the API over TLS, and waits 120 seconds for its next byte', () => {
    const [api] = resourcesOf(template, 'AWS::ApiGateway::RestApi')
    expect(apiOrigin).toMatchObject({
      DomainName: {
        'Fn::Join': ['', [{ Ref: api?.id }, '.execute-api.', { Ref: 'AWS::Region' }, '.amazonaws.com']],
      },
      OriginPath: '/live',
      CustomOriginConfig: {
        OriginProtocolPolicy: 'https-only',
        OriginReadTimeout: 120,
        OriginSSLProtocols: ['TLSv1.2'],
      },
    })
  })

  it('reaches an API with a custom domain by that name, because its default address is off', () => {
    const origin = originOf(everything, '/v1/*')
    expect(origin.DomainName).toBe('api.example.com')
    expect(origin).not.toHaveProperty('OriginPath')
  })

  it('reads the console from its own private bucket with signed requests', () => {
    const origin = originOf(template, '/console/*')
    const [bucketId] = origin.DomainName['Fn::GetAtt']
    const bucket = resourcesOf(template, 'AWS::S3::Bucket').find(({ id }) => id === bucketId)
    expect(bucket?.properties.PublicAccessBlockConfiguration).toEqual({
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    })
    expect(origin.OriginAccessControlId).toBeDefined()
    expect(behaviorOf(template, '/console')).toMatchObject({
      TargetOriginId: origin.Id,
      AllowedMethods: ['GET', 'HEAD'],
    })
  })

  it('caches files of the console for as long as they say, which is not at all for the page', () => {
    const [policy] = resourcesOf(template, 'AWS::CloudFront::CachePolicy')
    expect(policy?.properties.CachePolicyConfig).toMatchObject({ MinTTL: 0, DefaultTTL: 0, MaxTTL: 31_536_000 })
    expect(behaviorOf(template, '/console/*')).toMatchObject({ CachePolicyId: { Ref: policy?.id }, Compress: true })
  })

  it('gives the console the headers that the local host gives', () => {
    const [policy] = resourcesOf(template, 'AWS::CloudFront::ResponseHeadersPolicy').filter(({ id }) =>
      id.startsWith('FrontDoor'),
    )
    expect(behaviorOf(template, '/console/*')).toMatchObject({ ResponseHeadersPolicyId: { Ref: policy?.id } })
    const { SecurityHeadersConfig: security, CustomHeadersConfig: custom } =
      policy?.properties.ResponseHeadersPolicyConfig ?? {}
    const { AccessControlMaxAgeSec, IncludeSubdomains } = security.StrictTransportSecurity
    const given = {
      'content-security-policy': security.ContentSecurityPolicy.ContentSecurityPolicy,
      'referrer-policy': security.ReferrerPolicy.ReferrerPolicy,
      'x-content-type-options': security.ContentTypeOptions.Override ? 'nosniff' : undefined,
      'strict-transport-security': `max-age=${AccessControlMaxAgeSec}${IncludeSubdomains ? '; includeSubDomains' : ''}`,
      ...Object.fromEntries(custom.Items.map(({ Header, Value }: Record<string, string>) => [Header, Value])),
    }
    expect(given).toEqual(consoleHeaders({ isTls: true }))
  })

  it('passes every AwsSolutions rule or says why not', () => {
    expect(new AwsSolutionsChecks().validateScope(stack).violations).toEqual([])
  })

  it('uses the web ACL for CloudFront that is set', () => {
    expect(config).not.toHaveProperty('WebACLId')
    expect(distributionOf(everything).config.WebACLId).toBe(EVERY_SETTING.frontDoorWebAclArn)
  })
})

describe('the secret of the front door', () => {
  const [secret] = resourcesOf(template, 'AWS::SecretsManager::Secret').filter(({ id }) => id.startsWith('FrontDoor'))
  const reference = (field: string, version = '') => ({
    'Fn::Join': ['', ['{{resolve:secretsmanager:', { Ref: secret?.id }, `:SecretString:${field}::${version}}}`]],
  })

  it('is generated in the account, and CloudFormation fills it in, so the template shows none', () => {
    expect(secret?.properties.GenerateSecretString).toEqual({
      SecretStringTemplate: '{}',
      GenerateStringKey: 'current',
      PasswordLength: 64,
      ExcludePunctuation: true,
    })
    expect(apiOrigin.OriginCustomHeaders).toEqual([
      { HeaderName: 'x-reelgate-front-door', HeaderValue: reference('current') },
    ])
  })

  it('is read again by CloudFormation for another version, and the web ACL then accepts the previous value too', () => {
    const version = EVERY_SETTING.frontDoorSecretVersion
    expect(originOf(everything, '/v1/*').OriginCustomHeaders[0].HeaderValue).toEqual(reference('current', version))
    const [acl] = resourcesOf(everything, 'AWS::WAFv2::WebACL')
    const rules = JSON.stringify(acl?.properties.Rules)
    expect(rules).toContain(JSON.stringify(reference('current', version)))
    expect(rules).toContain(JSON.stringify(reference('previous', version)))
  })
})

describe('front-door-functions', () => {
  const code = consolePathCode(['/console/icon.svg'])

  it.each([
    '/console',
    '/console/',
    '/console/videos',
    '/console/videos/0198b3a0-0000-7000-8000-000000000000',
    '/console/models/famB-1.1-t2v',
    '/console/nothing.js',
  ])('show the page at %s', (uri) => {
    expect(runEdge(code, { uri, headers: {} }).uri).toBe('/console/index.html')
  })

  it.each(['/console/assets/index-1a2b.js', '/console/icon.svg', '/console/index.html'])('leave %s', (uri) => {
    expect(runEdge(code, { uri, headers: {} }).uri).toBe(uri)
  })

  it('tell the API the address of the viewer, and not what the viewer says', () => {
    const request = { uri: '/v1/models', headers: { 'x-reelgate-viewer-address': { value: '198.51.100.1' } } }
    expect(runEdge(VIEWER_ADDRESS_CODE, request)).toEqual({
      uri: '/v1/models',
      headers: { 'x-reelgate-viewer-address': { value: '203.0.113.9' } },
    })
  })

  it('are deployed for the console and for the API', () => {
    const codeOf = (path: string) => {
      const [id] = behaviorOf(template, path).FunctionAssociations.map(
        ({ FunctionARN }) => FunctionARN['Fn::GetAtt'][0],
      )
      const found = resourcesOf(template, 'AWS::CloudFront::Function').find((each) => each.id === id)
      return found?.properties.FunctionCode
    }
    expect(codeOf('/console')).toBe(consolePathCode([]))
    for (const path of ['/admin/*', '/v1/*', '/health', '/openapi.json']) {
      expect(codeOf(path)).toBe(VIEWER_ADDRESS_CODE)
    }
  })
})

/** The function behind a method of a concrete path, as API Gateway finds it: the most specific resource, then the named method. */
function adminFunctionOf(method: string, path: string): string | undefined {
  const resources = resourcesOf(template, 'AWS::ApiGateway::Resource')
  const pathOf = (id: string): string => {
    const found = resources.find((each) => each.id === id)?.properties
    return found === undefined ? '' : `${pathOf(found.ParentId.Ref)}/${found.PathPart}`
  }
  const matching = resources
    .map(({ id }) => ({ id, pattern: pathOf(id) }))
    .filter(({ pattern }) =>
      new RegExp(`^${pattern.replaceAll(/\{\w+\+\}/g, '.+').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
    )
    .toSorted(
      (left, right) => right.pattern.replace('{proxy+}', '').length - left.pattern.replace('{proxy+}', '').length,
    )
  const methods = resourcesOf(template, 'AWS::ApiGateway::Method').filter(
    ({ properties }) => properties.ResourceId.Ref === matching[0]?.id,
  )
  const found =
    methods.find(({ properties }) => properties.HttpMethod === method) ??
    methods.find(({ properties }) => properties.HttpMethod === 'ANY')
  const uri = JSON.stringify(found?.properties.Integration.Uri)
  const target = resourcesOf(template, 'AWS::Lambda::Function').find(({ id }) => uri?.includes(`"${id}"`))
  return target === undefined ? undefined : folderOf({ Description: target.properties.Description })
}

describe('AdminApi', () => {
  it.each(ALL_ADMIN_ROUTES)('sends $method $path to the function $function', ({ method, path, function: name }) => {
    expect(adminFunctionOf(method, path.replaceAll(/\{\w+\}/g, 'some-id'))).toBe(`admin-api/${name}`)
  })

  it('tells its functions the secret of the front door and the origin of the console, and no other function', () => {
    const [secret] = resourcesOf(template, 'AWS::SecretsManager::Secret').filter(({ id }) => id.startsWith('FrontDoor'))
    const told = resourcesOf(template, 'AWS::Lambda::Function').flatMap(({ properties }) => {
      const { FRONT_DOOR_SECRET_ARN: arn, CONSOLE_ORIGIN: origin } = properties.Environment?.Variables ?? {}
      return arn === undefined ? [] : [{ folder: folderOf(properties), arn, origin }]
    })
    const origin = { 'Fn::Join': ['', ['https://', { 'Fn::GetAtt': [distributionOf(template).id, 'DomainName'] }]] }
    expect(told.sort((left, right) => (left.folder < right.folder ? -1 : 1))).toEqual(
      ['read', 'sign-in', 'write'].map((name) => ({ folder: `admin-api/${name}`, arn: { Ref: secret?.id }, origin })),
    )
  })

  it('tells the function of sign-ins the OpenID provider of the configuration, and no other function', () => {
    const told = (of: Template) =>
      resourcesOf(of, 'AWS::Lambda::Function').flatMap(({ properties }) => {
        const { CONSOLE_OIDC: settings } = properties.Environment?.Variables ?? {}
        return settings === undefined ? [] : [{ folder: folderOf(properties), settings: JSON.parse(settings) }]
      })
    expect(told(everything)).toEqual([{ folder: 'admin-api/sign-in', settings: oidc }])
    expect(told(template)).toEqual([])
  })

  it('adds few resources, because a template holds 500', () => {
    const added = resourcesOf(template, 'AWS::ApiGateway::Resource').length
    expect(added - resourcesOf(without, 'AWS::ApiGateway::Resource').length).toBeLessThanOrEqual(12)
  })
})

/** What a replacement would lose, or what clients know the name of. */
const LASTING = [
  'AWS::DynamoDB::GlobalTable',
  'AWS::S3::Bucket',
  'AWS::SecretsManager::Secret',
  'AWS::CloudFront::Distribution',
  'AWS::CloudFront::OriginAccessControl',
  'AWS::ApiGateway::RestApi',
  'AWS::StepFunctions::StateMachine',
  'Custom::CdnKeyGroup',
]

describe('a front door that is added later', () => {
  it('keeps each lasting resource, and so the urls of videos and of the API', () => {
    const kept = {
      'AWS::DynamoDB::GlobalTable': 'JobTable',
      'AWS::S3::Bucket': 'VideoBucket',
      'AWS::CloudFront::Distribution': 'VideoCdnDistributionE164165B',
      'AWS::ApiGateway::RestApi': 'GatewayApiRestApi39971AA0',
    }
    for (const [type, id] of Object.entries(kept)) {
      const ids = resourcesOf(template, type).map((each) => each.id)
      expect(ids.filter((each) => each.startsWith(id))).toHaveLength(1)
    }
    for (const type of LASTING) {
      const ids = resourcesOf(template, type).map(({ id }) => id)
      expect(ids).toEqual(expect.arrayContaining(resourcesOf(without, type).map(({ id }) => id)))
    }
  })

  it('is absent with console=off', () => {
    const added = Object.keys(without.toJSON().Resources).filter((id) => /^(FrontDoor|Console|Admin)/.test(id))
    expect(added).toEqual([])
    expect(distributionOf(without).config).not.toHaveProperty('CacheBehaviors')
    expect(resourcesOf(without, 'AWS::CloudFront::Function')).toEqual([])
    expect(Object.keys(without.toJSON().Outputs)).not.toContain('ConsoleUrl')
  })

  it('stays below the 500 resources of a template with everything on', () => {
    const count = Object.keys(everything.toJSON().Resources).length
    console.log(`resources with everything on: ${count}`)
    expect(count).toBeLessThan(450)
  })
})

/** List prices of us-east-1 for a month, in dollars. */
const PRICES = { secret: 0.4, metricOfAlarm: 0.1 }

describe('the cost of an idle month in docs/scaling.md', () => {
  const page = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8')

  it('is that of the alarms and secrets of the template', () => {
    const metrics = resourcesOf(template, 'AWS::CloudWatch::Alarm').flatMap(
      ({ properties }) => properties.Metrics?.filter((metric: object) => 'MetricStat' in metric) ?? [properties],
    ).length
    const secrets = resourcesOf(template, 'AWS::SecretsManager::Secret').length
    expect(page).toContain(
      `| ${metrics} metrics looked at, with five channels | ${(metrics * PRICES.metricOfAlarm).toFixed(2)} |`,
    )
    expect(page).toContain(`| ${secrets} secrets | ${(secrets * PRICES.secret).toFixed(2)} |`)
  })
})
