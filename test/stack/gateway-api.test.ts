import { describe, expect, it } from '@jest/globals'
import { Match, type Template } from 'aws-cdk-lib/assertions'
import { RestApi } from 'aws-cdk-lib/aws-apigateway'
import { fallback } from '#lambdas/api/public/fallback.ts'
import { methodsOf as methodsOfRoute, type Route } from '#routes/define-route.ts'
import { ROUTES } from '#routes/index.ts'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { streamedIntegration, wholeIntegration } from '#stack/gateway-api.ts'
import { GatewayFunction } from '#stack/gateway-function.ts'
import { apiEvent, captureLog, context } from '../middleware/api-exchange.ts'
import { tableGrants } from './role-check.ts'
import {
  folderOf,
  resourcesOf,
  shippedConfiguration,
  stageSettings,
  synthesizeAlone,
  synthesizeStack,
} from './synthesize-stack.ts'

const template = synthesizeStack()
const buffered = synthesizeStack({ settings: stageSettings({ profile: 'dev', emulator: 'true' }) })
const resources = resourcesOf(template, 'AWS::ApiGateway::Resource')
const methods = methodsOf(template)
const [streaming, whole] = [true, undefined].map((streams) =>
  ROUTES.filter((route: Route) => route.streams === streams),
)
const [stage] = resourcesOf(template, 'AWS::ApiGateway::Stage')

type MethodSetting = {
  readonly HttpMethod: string
  readonly ResourcePath: string
  readonly MetricsEnabled: boolean
}

function methodsOf(from: Template) {
  return resourcesOf(from, 'AWS::ApiGateway::Method').map(({ properties }) => ({
    method: properties.HttpMethod,
    path: pathOf(properties.ResourceId),
    folder: targetOf(properties.Integration),
    integration: properties.Integration,
  }))
}

const folderOfRoute = (route: Route) => `api/${route.function}`

/** The integration and the function of a route. */
function deployed(from: Template, route: Route) {
  const { method, path } = route
  const integration = methodsOf(from).find((each) => each.method === method && each.path === path)?.integration
  const [found] = resourcesOf(from, 'AWS::Lambda::Function').filter(
    ({ properties }) => folderOf(properties) === folderOfRoute(route),
  )
  return { integration, uri: JSON.stringify(integration.Uri), properties: found?.properties }
}

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

describe('GatewayApi', () => {
  it('refuses TLS 1.0 and 1.1 at its own address, and a host other than that of the handshake', () => {
    expect(resourcesOf(template, 'AWS::ApiGateway::RestApi')[0]?.properties).toMatchObject({
      SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
      EndpointAccessMode: 'STRICT',
    })
  })

  it.each<Route>([...ROUTES])('$method $path goes to the function of $operation', (route) => {
    const { method, path } = route
    expect(methods.find((each) => each.method === method && each.path === path)?.folder).toBe(folderOfRoute(route))
  })

  it('supports HEAD on public routes only, with the function of GET', () => {
    const heads = methods.filter(({ method }) => method === 'HEAD').map(({ path, folder }) => [path, folder])
    expect(heads.sort()).toEqual([
      ['/health', 'api/public'],
      ['/openapi.json', 'api/public'],
    ])
  })

  it('has no method but those of ROUTES: API Gateway refuses other paths and methods', () => {
    const declared = ROUTES.flatMap((route) => methodsOfRoute(route).map((method) => `${method} ${route.path}`))
    expect(methods.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(declared.sort())
  })

  it('has one permission for each function of the API', () => {
    const callers = resourcesOf(template, 'AWS::Lambda::Permission').filter(
      ({ properties }) => properties.Principal === 'apigateway.amazonaws.com',
    )
    expect(callers).toHaveLength(new Set(ROUTES.map(folderOfRoute)).size)
  })

  it('tells the functions of the API which origins are allowed, and has preflights below /v1 only with origins', () => {
    const { config } = shippedConfiguration
    const origins = ['https://app.example.com', 'http://localhost:5173']
    const open = synthesizeStack({ config: { ...config, cors: { origins } } })
    const told = (from: Template) =>
      resourcesOf(from, 'AWS::Lambda::Function')
        .filter(({ properties }) => 'CORS_ORIGINS' in (properties.Environment?.Variables ?? {}))
        .map(({ properties }) => [folderOf(properties), properties.Environment.Variables.CORS_ORIGINS])
    const folders = [...new Set(ROUTES.map(folderOfRoute))]
    expect(told(open).toSorted()).toEqual(folders.toSorted().map((folder) => [folder, origins.join(' ')]))
    expect(told(template)).toEqual([])
    const preflights = methodsOf(open).filter(({ method }) => method === 'OPTIONS')
    const paths = new Set<string>(ROUTES.map(({ path }) => path).filter((path) => path.startsWith('/v1/')))
    expect(preflights.map(({ path }) => path).toSorted()).toEqual([...paths].toSorted())
    expect(new Set(preflights.map(({ folder }) => folder))).toEqual(new Set(['api/public']))
  })

  const issuer = 'https://token.actions.githubusercontent.com'
  const rule = { name: 'ci', when: { repository: 'acme/*' }, tenant: 'acme', rate: 300 }
  const issuers = [{ issuer, audience: ['https://gateway.example.com'], rules: [rule] }]
  const open = synthesizeStack({ config: { ...shippedConfiguration.config, identity: { issuers } } })
  const keyed = new Set(ROUTES.filter(({ auth }) => auth === 'key').map(folderOfRoute))

  it('lets every function that takes a key take tokens, where the configuration has issuers, and no other', () => {
    const told = (from: Template) =>
      resourcesOf(from, 'AWS::Lambda::Function')
        .filter(({ properties }) => properties.Environment?.Variables.IDENTITY_FILE === 'identity.json')
        .map(({ properties }) => folderOf(properties))
    expect(told(open).toSorted()).toEqual([...keyed].toSorted())
    expect(told(template)).toEqual([])
  })

  it('lets functions that take tokens read the names of tenants, and not the secrets of their callbacks', () => {
    const onTenants = (folder: string) =>
      (tableGrants(open).get(folder) ?? []).filter(({ partitions }) => partitions?.includes('TENANTS'))
    for (const folder of keyed) {
      const queries = onTenants(folder).filter(({ actions }) => actions.includes('Query'))
      expect([folder, queries]).toMatchObject([
        folder,
        [{ actions: ['Query'], partitions: ['TENANTS'], attributes: ['PK', 'SK', 'name'], holdsWithoutKeys: false }],
      ])
    }
    const readers = [...keyed].filter((folder) => onTenants(folder).some(({ actions }) => !actions.includes('Query')))
    expect(readers).toEqual(['api/resend-video-callback'])
  })

  it.each<Route>(whole ?? [])('buffers $operation with the timeout of its function', (route) => {
    const { integration, uri, properties } = deployed(template, route)
    expect(integration).toMatchObject({ Type: 'AWS_PROXY', TimeoutInMillis: 29_000 })
    expect(integration).not.toHaveProperty('ResponseTransferMode')
    expect(uri).toMatch(/:lambda:path\/2015-03-31\/functions\/.*\/invocations"/)
    expect(properties).toMatchObject({ Timeout: 29, Handler: 'index.handler' })
  })

  it.each<Route>(streaming ?? [])('streams $operation for up to 15 minutes', (route) => {
    const { integration, uri, properties } = deployed(template, route)
    expect(integration).toMatchObject({ Type: 'AWS_PROXY', ResponseTransferMode: 'STREAM', TimeoutInMillis: 900_000 })
    expect(uri).toMatch(/:lambda:path\/2021-11-15\/functions\/.*\/response-streaming-invocations"/)
    const MemorySize = route.needs.memoryMegabytes
    expect(properties).toMatchObject({ Timeout: 900, Handler: 'index.streamHandler', MemorySize })
  })

  it('streams only relayed responses and the events of jobs', () => {
    const expected = ROUTES.filter(({ relays, operation }: Route) => relays || operation === 'get-video-events')
    expect(streaming).toEqual(expected)
    const streamed = methods.filter(({ integration }) => integration.ResponseTransferMode === 'STREAM')
    expect(streamed).toHaveLength(expected.length)
    const handlers = resourcesOf(template, 'AWS::Lambda::Function').map(({ properties }) => properties.Handler)
    expect(handlers.filter((handler) => handler === 'index.streamHandler')).toHaveLength(expected.length)
  })

  it.each<Route>([...ROUTES])('buffers $operation if streaming is off', (route) => {
    const { integration, uri, properties } = deployed(buffered, route)
    expect(integration).toMatchObject({ Type: 'AWS_PROXY', TimeoutInMillis: 29_000 })
    expect(integration).not.toHaveProperty('ResponseTransferMode')
    expect(uri).toMatch(/:lambda:path\/2015-03-31\/functions\/.*\/invocations"/)
    // Behind an answer that API Gateway has given up, a relaying function still settles.
    expect(properties).toMatchObject({ Handler: 'index.handler', Timeout: route.streams === true ? 900 : 29 })
  })

  it('is regional, traced, throttled, and logs no request data', () => {
    const [api] = resourcesOf(template, 'AWS::ApiGateway::RestApi')
    expect(api?.properties.EndpointConfiguration.Types).toEqual(['REGIONAL'])
    expect(stage?.properties.TracingEnabled).toBe(true)
    // An entry of one method takes nothing over from that of all methods.
    for (const settings of stage?.properties.MethodSettings ?? []) {
      expect(settings).toMatchObject({
        LoggingLevel: 'ERROR',
        DataTraceEnabled: false,
        ThrottlingRateLimit: 5000,
        ThrottlingBurstLimit: 2500,
      })
    }
  })

  it('has detailed metrics only of the method with an alarm, and none without alarms', () => {
    const metered = (of: Template) => {
      const [found] = resourcesOf(of, 'AWS::ApiGateway::Stage')
      return found?.properties.MethodSettings.map(({ HttpMethod, ResourcePath, MetricsEnabled }: MethodSetting) => [
        `${HttpMethod} ${ResourcePath}`,
        MetricsEnabled,
      ])
    }
    expect(metered(template)).toEqual([
      ['* /*', false],
      ['GET /~1v1~1video~1generations~1{job_id}', true],
    ])
    const [alarm] = resourcesOf(template, 'AWS::CloudWatch::Alarm').filter(({ properties }) =>
      properties.AlarmName.endsWith('-SlowReads'),
    )
    const read = alarm?.properties.Dimensions.map(({ Value }: { Value: unknown }) => Value)
    expect(read).toEqual(expect.arrayContaining(['GET', '/v1/video/generations/{job_id}']))
    expect(metered(synthesizeStack({ settings: stageSettings({ profile: 'dev' }) }))).toEqual([['* /*', false]])
  })

  it('logs one line of JSON per request, without the key, the query or error messages', () => {
    const format = stage?.properties.AccessLogSetting.Format
    expect(JSON.parse(format)).toMatchObject({
      requestId: '$context.requestId',
      extendedRequestId: '$context.extendedRequestId',
      functionRequestId: '$context.integration.requestId',
      integrationLatencyMilliseconds: '$context.integration.latency',
      status: '$context.status',
      responseTransferMode: '$context.integration.responseTransferMode',
      timeToAllHeadersMilliseconds: '$context.integration.timeToAllHeaders',
      timeToFirstContentMilliseconds: '$context.integration.timeToFirstContent',
    })
    expect(format).not.toMatch(/authorization|\.header|query|error\.message|\$context\.path/i)
  })

  it('creates the group of its execution log before API Gateway would create one without retention', () => {
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

describe('gateway-error-responses: refusals by API Gateway', () => {
  const template = synthesizeStack()
  const { config } = shippedConfiguration
  const open = synthesizeStack({ config: { ...config, cors: { origins: ['https://app.example.com'] } } })

  function gatewayResponse(type: string) {
    const found = resourcesOf(template, 'AWS::ApiGateway::GatewayResponse').find(
      ({ properties }) => properties.ResponseType === type,
    )?.properties
    return { ...found, body: JSON.parse(found?.ResponseTemplates['application/json']) }
  }

  it.each([
    ['DEFAULT_4XX', undefined, 'request refused', 'invalid_request_error', null],
    ['DEFAULT_5XX', undefined, 'internal error', 'server_error', null],
    ['WAF_FILTERED', '403', 'request blocked', 'invalid_request_error', 'request_blocked'],
    ['BAD_REQUEST_BODY', undefined, 'invalid request body', 'invalid_request_error', null],
    ['REQUEST_TOO_LARGE', '413', 'request body too large', 'invalid_request_error', 'request_body_too_large'],
    ['INTEGRATION_TIMEOUT', '504', 'gateway timeout', 'server_error', null],
    ['THROTTLED', '429', 'rate limit exceeded', 'rate_limit_error', 'rate_limit_exceeded'],
    ['QUOTA_EXCEEDED', '429', 'rate limit exceeded', 'rate_limit_error', 'rate_limit_exceeded'],
  ])('%s has the error shape of OpenAI', (responseType, status, message, type, code) => {
    const response = gatewayResponse(responseType)
    expect(response.StatusCode).toBe(status)
    expect(response.body).toEqual({ error: { message, type, param: null, code } })
  })

  it.each(['MISSING_AUTHENTICATION_TOKEN', 'INVALID_SIGNATURE'])(
    '%s, a path without an operation, is the 404 of the local host, with the method and path of the request',
    async (responseType) => {
      captureLog()
      const { StatusCode, body } = gatewayResponse(responseType)
      // API Gateway cannot look for the nearest route, so the path has none.
      const local = await fallback(apiEvent({ httpMethod: 'POST', path: '/nothing' }), context)
      const { message } = body.error
      const arrived = message.replace('$context.httpMethod', 'POST').replace('$context.path', '/nothing')
      expect(StatusCode).toBe('404')
      expect({ error: { ...body.error, message: arrived } }).toEqual(JSON.parse(local.body))
    },
  )

  it('returns Retry-After to a throttled client', () => {
    expect(gatewayResponse('THROTTLED').ResponseParameters).toMatchObject({
      'gatewayresponse.header.Retry-After': "'1'",
    })
  })

  it('has the request id on every response, like the functions, and is never taken for another type', () => {
    const responses = resourcesOf(template, 'AWS::ApiGateway::GatewayResponse')
    expect(responses.length).toBeGreaterThan(0)
    for (const { properties } of responses) {
      expect(properties.ResponseParameters).toMatchObject({
        'gatewayresponse.header.x-request-id': 'context.requestId',
        'gatewayresponse.header.x-content-type-options': "'nosniff'",
      })
    }
  })

  it('can be read by scripts of any origin where browsers may use the API, and only there', () => {
    for (const { properties } of resourcesOf(open, 'AWS::ApiGateway::GatewayResponse')) {
      expect(properties.ResponseParameters).toMatchObject({
        'gatewayresponse.header.access-control-allow-origin': "'*'",
        'gatewayresponse.header.access-control-expose-headers': "'x-request-id, retry-after'",
      })
    }
    expect(JSON.stringify(template)).not.toContain('access-control')
  })

  it('never returns a message of API Gateway, which may quote the Authorization header', () => {
    expect(JSON.stringify(resourcesOf(template, 'AWS::ApiGateway::GatewayResponse'))).not.toContain('$context.error')
  })
})

describe('lambda-integrations', () => {
  const template = synthesizeAlone((stack) => {
    const handler = new GatewayFunction(stack, 'Handler', {
      sources: { root: REPOSITORY_ROOT, configurationFile: 'gateway.json' },
      folder: 'api/public',
      timeoutSeconds: 29,
      memoryMegabytes: 128,
      files: [],
    })
    const api = new RestApi(stack, 'Api')
    const whole = wholeIntegration(handler)
    api.root.addMethod('GET', whole)
    api.root.addMethod('ANY', whole)
    api.root.addResource('streamed').addMethod('GET', streamedIntegration(handler))
  })
  const integrations = resourcesOf(template, 'AWS::ApiGateway::Method').map(({ properties }) => properties.Integration)

  it('wait for a whole response as long as its function may run, and for a streamed one 15 minutes', () => {
    const seconds = integrations.map(({ TimeoutInMillis }) => TimeoutInMillis / 1_000)
    expect(seconds.sort((left, right) => left - right)).toEqual([29, 29, 900])
  })

  it('grant one permission to a function with many methods', () => {
    const sources = resourcesOf(template, 'AWS::Lambda::Permission').map(({ properties }) => JSON.stringify(properties))
    expect(sources.filter((source) => source.includes('/*/*'))).toHaveLength(1)
  })
})
