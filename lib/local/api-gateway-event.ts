import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { APIGatewayProxyEvent } from 'aws-lambda'

/** One HTTP request as API Gateway (REST, Lambda proxy) would hand it over. */
export type GatewayRequest = {
  readonly request: IncomingMessage
  readonly url: URL
  /** The path template, such as `/v1/video/generations/{job_id}`. */
  readonly resource: string
  readonly pathParameters: Record<string, string> | null
  readonly body: Buffer
}

export function toGatewayEvent({ request, url, resource, pathParameters, body }: GatewayRequest): APIGatewayProxyEvent {
  const multiValueHeaders = groupPairs(rawHeaderPairs(request))
  const multiValueQueryStringParameters = groupPairs([...url.searchParams])
  // Bytes that are no UTF-8 travel as base64, so that the handler can see and refuse them.
  const text = body.toString('utf8')
  const isBase64Encoded = !Buffer.from(text, 'utf8').equals(body)
  return {
    resource,
    path: url.pathname,
    httpMethod: request.method ?? 'GET',
    headers: lastValues(multiValueHeaders),
    multiValueHeaders,
    queryStringParameters: emptyToNull(lastValues(multiValueQueryStringParameters)),
    multiValueQueryStringParameters: emptyToNull(multiValueQueryStringParameters),
    pathParameters,
    stageVariables: null,
    body: body.length === 0 ? null : isBase64Encoded ? body.toString('base64') : text,
    isBase64Encoded,
    requestContext: requestContext(request, url, resource),
  }
}

function requestContext(request: IncomingMessage, url: URL, resource: string): APIGatewayProxyEvent['requestContext'] {
  return {
    accountId: '000000000000',
    apiId: 'local',
    authorizer: null,
    protocol: `HTTP/${request.httpVersion}`,
    httpMethod: request.method ?? 'GET',
    identity: {
      ...NO_IDENTITY,
      sourceIp: request.socket.remoteAddress ?? '',
      userAgent: request.headers['user-agent'] ?? null,
    },
    path: url.pathname,
    stage: 'local',
    requestId: randomUUID(),
    requestTimeEpoch: Date.now(),
    resourceId: 'local',
    resourcePath: resource,
  }
}

const NO_IDENTITY = {
  accessKey: null,
  accountId: null,
  apiKey: null,
  apiKeyId: null,
  caller: null,
  clientCert: null,
  cognitoAuthenticationProvider: null,
  cognitoAuthenticationType: null,
  cognitoIdentityId: null,
  cognitoIdentityPoolId: null,
  principalOrgId: null,
  user: null,
  userArn: null,
}

function rawHeaderPairs({ rawHeaders }: IncomingMessage): [string, string][] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as [string, string]] : [],
  )
}

function groupPairs(pairs: readonly [string, string][]): Record<string, string[]> {
  const grouped = new Map<string, string[]>()
  for (const [name, value] of pairs) {
    grouped.set(name, [...(grouped.get(name) ?? []), value])
  }
  return Object.fromEntries(grouped)
}

function lastValues(grouped: Record<string, string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(grouped).map(([name, values]) => [name, values.at(-1) ?? '']))
}

function emptyToNull<Value>(record: Record<string, Value>): Record<string, Value> | null {
  return Object.keys(record).length === 0 ? null : record
}
