import type { APIGatewayProxyEvent } from 'aws-lambda'
import { NO_IDENTITY } from '#core/api/api-gateway.ts'
import type { Route } from '#routes/define-route.ts'
import { operationOf } from './openapi-document.ts'

/** The host and the stage of an API of API Gateway. */
const HOST = 'abc123defg.execute-api.eu-west-1.amazonaws.com'
const STAGE = 'live'

/**
 * An event as API Gateway sends it to the function of a route, with the key `sample-key`. Its parameters and its body are the examples of the
 * OpenAPI document.
 * @param parameters of the path, in place of the examples.
 */
export function sampleEvent(route: Route, parameters: Readonly<Record<string, string>> = {}): APIGatewayProxyEvent {
  const { parameters: described = [], requestBody } = operationOf(route)
  const examples = (kind: 'path' | 'query') =>
    Object.fromEntries(
      described.flatMap(({ name, in: place, example }) =>
        place === kind && example !== undefined ? [[name, String(example)]] : [],
      ),
    )
  const pathParameters: Record<string, string> = { ...examples('path'), ...parameters }
  const query = examples('query')
  const hasQuery = Object.keys(query).length > 0
  const [body] = Object.values(requestBody?.content['application/json']?.examples ?? {})
  const headers = {
    accept: 'application/json',
    Host: HOST,
    'User-Agent': 'curl/8.10.1',
    'X-Forwarded-For': '198.51.100.7',
    'X-Forwarded-Proto': 'https',
    ...(route.auth === 'key' ? { Authorization: 'Bearer sample-key' } : {}),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  }
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => pathParameters[name] ?? '')
  return {
    resource: route.path,
    path,
    httpMethod: route.method,
    headers,
    multiValueHeaders: inLists(headers),
    queryStringParameters: hasQuery ? query : null,
    multiValueQueryStringParameters: hasQuery ? inLists(query) : null,
    pathParameters: route.path.includes('{') ? pathParameters : null,
    stageVariables: null,
    requestContext: requestContext(route, path),
    body: body === undefined ? null : JSON.stringify(body.value),
    isBase64Encoded: false,
  }
}

function inLists(values: Readonly<Record<string, string>>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]]))
}

function requestContext({ method, path: resourcePath }: Route, path: string): APIGatewayProxyEvent['requestContext'] {
  return {
    accountId: '111111111111',
    apiId: 'abc123defg',
    authorizer: null,
    protocol: 'HTTP/1.1',
    httpMethod: method,
    identity: { ...NO_IDENTITY, sourceIp: '198.51.100.7', userAgent: 'curl/8.10.1' },
    path: `/${STAGE}${path}`,
    stage: STAGE,
    requestId: '6f1d7c52-1c5e-4f0a-9d55-000000000001',
    requestTimeEpoch: 1_767_225_600_000,
    resourceId: 'a1b2c3',
    resourcePath,
  }
}
