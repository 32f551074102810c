import { describe, expect, it } from '@jest/globals'
import { Match } from 'aws-cdk-lib/assertions'
import { ROUTES } from '#core/contract/routes.ts'
import { folderOf, resourcesOf, synthesizeStack } from './synthesize-stack.ts'

const template = synthesizeStack()
const resources = resourcesOf(template, 'AWS::ApiGateway::Resource')
const methods = resourcesOf(template, 'AWS::ApiGateway::Method').map(({ properties }) => ({
  method: properties.HttpMethod,
  path: pathOf(properties.ResourceId),
  folder: targetOf(properties.Integration),
  properties,
}))
const [stage] = resourcesOf(template, 'AWS::ApiGateway::Stage')

/** `/v1/video/generations` of a resource, by way of its parents. */
function pathOf(reference: { Ref?: string }): string {
  const found = resources.find(({ id }) => id === reference.Ref)
  return found === undefined ? '' : `${pathOf(found.properties.ParentId)}/${found.properties.PathPart}`
}

function targetOf(integration: unknown): string | undefined {
  const text = JSON.stringify(integration)
  const found = resourcesOf(template, 'AWS::Lambda::Function').find(({ id }) => text.includes(`"${id}"`))
  return found === undefined ? undefined : folderOf({ Description: found.properties.Description })
}

/** The resource that a path leads to when each segment takes its most specific child: exact, variable, greedy. */
function mostSpecific(path: string): string | undefined {
  const paths = resources.map(({ id }) => pathOf({ Ref: id }))
  let current = ''
  for (const segment of path.split('/').filter((each) => each !== '')) {
    const children = paths.filter((each) => each.slice(0, each.lastIndexOf('/')) === current)
    const variable = children.find((each) => each.endsWith('}'))
    const next = children.find((each) => each === `${current}/${segment}`) ?? variable
    if (next === undefined || next.endsWith('+}')) {
      return next
    }
    current = next
  }
  return current
}

function gatewayResponse(type: string) {
  const found = resourcesOf(template, 'AWS::ApiGateway::GatewayResponse').find(
    ({ properties }) => properties.ResponseType === type,
  )?.properties
  return { ...found, body: JSON.parse(found?.ResponseTemplates['application/json']) }
}

describe('VideoApi', () => {
  it.each(ROUTES)('$method $path goes to $operation', ({ method, path, operation }) => {
    expect(methods.find((each) => each.method === method && each.path === path)?.folder).toBe(`api/${operation}`)
  })

  it('sends every other method of every known resource, and every unknown path, to the fallback', () => {
    const everyPath = ['', ...resources.map(({ id }) => pathOf({ Ref: id }))]
    const fallback = methods.filter(({ method }) => method === 'ANY')
    expect(fallback.map(({ path }) => path).sort()).toEqual(everyPath.sort())
    expect(new Set(fallback.map(({ folder }) => folder))).toEqual(new Set(['api/fallback']))
    expect(everyPath).toContain('/{proxy+}')
  })

  it.each([
    '/',
    '/nothing',
    '/v1',
    '/v1/nothing/at/all',
    '/v1/video',
    '/v1/video/nothing',
    '/v1/video/generations/some-id/nothing',
    '/v1/video/generations/some-id/nothing/at/all',
  ])('sends %s to the fallback, without relying on a way back up the tree', (path) => {
    const resource = mostSpecific(path)
    const answering = methods.find((each) => each.method === 'ANY' && each.path === resource)
    expect(answering?.folder).toBe('api/fallback')
  })

  it('waits for a function exactly as long as it may run', () => {
    for (const { properties } of methods) {
      expect(properties.Integration).toMatchObject({ Type: 'AWS_PROXY', TimeoutInMillis: 29_000 })
    }
    const timeouts = resourcesOf(template, 'AWS::Lambda::Function')
      .filter(({ properties }) => properties.Description.startsWith('Reelgate api/'))
      .map(({ properties }) => properties.Timeout)
    expect(new Set(timeouts)).toEqual(new Set([29]))
  })

  it('is regional, traced, throttled, and logs no request data', () => {
    const [api] = resourcesOf(template, 'AWS::ApiGateway::RestApi')
    expect(api?.properties.EndpointConfiguration.Types).toEqual(['REGIONAL'])
    expect(stage?.properties.TracingEnabled).toBe(true)
    expect(stage?.properties.MethodSettings).toEqual([
      expect.objectContaining({
        HttpMethod: '*',
        ResourcePath: '/*',
        DataTraceEnabled: false,
        ThrottlingRateLimit: 5000,
        ThrottlingBurstLimit: 2500,
      }),
    ])
  })

  it('writes one line of JSON per request, without the key, the query or an error text that may quote them', () => {
    const format = stage?.properties.AccessLogSetting.Format
    expect(JSON.parse(format)).toMatchObject({ requestId: '$context.requestId', status: '$context.status' })
    expect(format).not.toMatch(/authorization|header|query|error\.message|\$context\.path/i)
  })

  it('has the log group of its execution log before API Gateway would make one that never ends', () => {
    const [api] = resourcesOf(template, 'AWS::ApiGateway::RestApi')
    const [log] = resourcesOf(template, 'AWS::Logs::LogGroup').filter(({ properties }) =>
      JSON.stringify(properties.LogGroupName ?? '').includes('API-Gateway-Execution-Logs_'),
    )
    expect(log?.properties.LogGroupName).toEqual({
      'Fn::Join': ['', ['API-Gateway-Execution-Logs_', { Ref: api?.id }, '/live']],
    })
    template.hasResource('AWS::ApiGateway::Stage', { DependsOn: Match.arrayWith([log?.id]) })
  })
})

describe('what API Gateway refuses by itself', () => {
  it.each([
    ['DEFAULT_4XX', undefined, 'request refused', 'invalid_request_error', null],
    ['DEFAULT_5XX', undefined, 'internal error', 'server_error', null],
    ['MISSING_AUTHENTICATION_TOKEN', '404', 'not found', 'invalid_request_error', 'not_found'],
    ['BAD_REQUEST_BODY', undefined, 'invalid request body', 'invalid_request_error', null],
    ['REQUEST_TOO_LARGE', '413', 'request body too large', 'invalid_request_error', 'request_body_too_large'],
    ['INTEGRATION_TIMEOUT', '504', 'gateway timeout', 'server_error', null],
    ['THROTTLED', '429', 'rate limit exceeded', 'rate_limit_error', 'rate_limit_exceeded'],
    ['QUOTA_EXCEEDED', '429', 'rate limit exceeded', 'rate_limit_error', 'rate_limit_exceeded'],
  ])('%s has the shape that OpenAI clients read', (responseType, status, message, type, code) => {
    const response = gatewayResponse(responseType)
    expect(response.StatusCode).toBe(status)
    expect(response.body).toEqual({ error: { message, type, param: null, code } })
  })

  it('tells a throttled client when to come back', () => {
    expect(gatewayResponse('THROTTLED').ResponseParameters).toEqual({
      'gatewayresponse.header.Retry-After': "'1'",
    })
  })

  it('never passes on a text of API Gateway, which may quote the Authorization header', () => {
    expect(JSON.stringify(resourcesOf(template, 'AWS::ApiGateway::GatewayResponse'))).not.toContain('$context')
  })
})
