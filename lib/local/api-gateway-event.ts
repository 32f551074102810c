import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { APIGatewayProxyEvent } from 'aws-lambda'

/** One HTTP request as API Gateway (REST, Lambda proxy) would pass it on. */
export type GatewayRequest = {
  readonly request: IncomingMessage
  readonly requestId: string
  readonly url: URL
  /** The path template, such as `/v1/video/generations/{job_id}`. */
  readonly resource: string
  readonly pathParameters: Record<string, string> | null
  readonly body: Buffer
}

/** Uses plain loops, because every request needs the event first. */
export function toGatewayEvent(gatewayRequest: GatewayRequest): APIGatewayProxyEvent {
  const { request, url, resource, pathParameters, body } = gatewayRequest
  const headers = new ValuesByName()
  const { rawHeaders } = request
  for (let index = 1; index < rawHeaders.length; index += 2) {
    headers.add(rawHeaders[index - 1] ?? '', rawHeaders[index] ?? '')
  }
  const query = url.search === '' ? undefined : readQuery(url.searchParams)
  // Invalid UTF-8 is passed as base64, so that the handler can refuse it.
  const isBase64Encoded = !isUtf8(body)
  return {
    resource,
    path: url.pathname,
    httpMethod: request.method ?? 'GET',
    headers: headers.last,
    multiValueHeaders: headers.all,
    queryStringParameters: query?.last ?? null,
    multiValueQueryStringParameters: query?.all ?? null,
    pathParameters,
    stageVariables: null,
    body: body.length === 0 ? null : body.toString(isBase64Encoded ? 'base64' : 'utf8'),
    isBase64Encoded,
    requestContext: requestContext(gatewayRequest),
  }
}

function requestContext({ request, requestId, url, resource }: GatewayRequest): APIGatewayProxyEvent['requestContext'] {
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
    requestId,
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

/** Values in both of API Gateway's forms. Without a prototype, because a client may send a name such as `__proto__`. */
class ValuesByName {
  readonly last: Record<string, string> = Object.create(null)
  readonly all: Record<string, string[]> = Object.create(null)

  add(name: string, value: string): void {
    const values = this.all[name]
    if (values === undefined) {
      this.all[name] = [value]
    } else {
      values.push(value)
    }
    this.last[name] = value
  }
}

/** Undefined if the query is empty, as after a single question mark. */
function readQuery(parameters: URLSearchParams): ValuesByName | undefined {
  const query = new ValuesByName()
  for (const [name, value] of parameters) {
    query.add(name, value)
  }
  return parameters.size === 0 ? undefined : query
}
