import { Match, type Template } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { functionFolderOf, isRelayed, methodsOf as methodsOfRoute, ROUTES, type Route } from '#core/api/routes.ts'
import { folderOf, resourcesOf, shippedConfiguration, stageSettings, synthesizeStack } from './synthesize-stack.ts'

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

/** The integration and the function of a route. */
function deployed(from: Template, route: Route) {
  const { method, path } = route
  const integration = methodsOf(from).find((each) => each.method === method && each.path === path)?.integration
  const [found] = resourcesOf(from, 'AWS::Lambda::Function').filter(
    ({ properties }) => folderOf(properties) === functionFolderOf(route),
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
    expect(methods.find((each) => each.method === method && each.path === path)?.folder).toBe(functionFolderOf(route))
  })

  it('supports HEAD on public routes only, with the function of GET', () => {
    const heads = methods.filter(({ method }) => method === 'HEAD').map(({ path, folder }) => [path, folder])
    expect(heads.sort()).toEqual([
      ['/health', 'api-shared/public'],
      ['/openapi.json', 'api-shared/public'],
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
    expect(callers).toHaveLength(new Set(ROUTES.map(functionFolderOf)).size)
  })

  it('tells the functions of the API which origins are allowed, and has preflights below /v1 only with origins', () => {
    const { config } = shippedConfiguration
    const origins = ['https://app.example.com', 'http://localhost:5173']
    const open = synthesizeStack({ config: { ...config, cors: { origins } } })
    const told = (from: Template) =>
      resourcesOf(from, 'AWS::Lambda::Function')
        .filter(({ properties }) => 'CORS_ORIGINS' in (properties.Environment?.Variables ?? {}))
        .map(({ properties }) => [folderOf(properties), properties.Environment.Variables.CORS_ORIGINS])
    const folders = [...new Set(ROUTES.map(functionFolderOf))]
    expect(told(open).toSorted()).toEqual(folders.toSorted().map((folder) => [folder, origins.join(' ')]))
    expect(told(template)).toEqual([])
    const preflights = methodsOf(open).filter(({ method }) => method === 'OPTIONS')
    const paths = new Set<string>(ROUTES.map(({ path }) => path).filter((path) => path.startsWith('/v1/')))
    expect(preflights.map(({ path }) => path).toSorted()).toEqual([...paths].toSorted())
    expect(new Set(preflights.map(({ folder }) => folder))).toEqual(new Set(['api-shared/public']))
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
    const MemorySize = isRelayed(route) && route.operation !== 'create-chat-completion' ? 1024 : 512
    expect(properties).toMatchObject({ Timeout: 900, Handler: 'index.streamHandler', MemorySize })
  })

  it('streams only relayed responses and the events of jobs', () => {
    expect(streaming?.map(({ operation }) => operation)).toEqual([
      'get-video-events',
      'create-chat-completion',
      'create-completion',
      'create-embedding',
      'create-image',
    ])
    const streamed = methods.filter(({ integration }) => integration.ResponseTransferMode === 'STREAM')
    expect(streamed).toHaveLength(5)
    const handlers = resourcesOf(template, 'AWS::Lambda::Function').map(({ properties }) => properties.Handler)
    expect(handlers.filter((handler) => handler === 'index.streamHandler')).toHaveLength(5)
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
