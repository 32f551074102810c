import { jest } from '@jest/globals'
import type { Context } from 'aws-lambda'
import type { ApiEvent, ApiResult } from '#middleware/api-event.ts'

export const REQUEST_ID = 'request-1'

/** An event as API Gateway sends it: `headers` holds the last value of a name, `multiValueHeaders` all of them. */
export function apiEvent(members: Partial<ApiEvent> = {}): ApiEvent {
  const headers = members.headers ?? {}
  const path = members.path ?? '/v1/video/generations'
  return {
    httpMethod: 'POST',
    path,
    resource: path,
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? '']])),
    body: null,
    isBase64Encoded: false,
    pathParameters: null,
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    stageVariables: null,
    requestContext: {
      accountId: '000000000000',
      apiId: 'api',
      authorizer: null,
      protocol: 'HTTP/1.1',
      httpMethod: 'POST',
      identity: NOBODY,
      path,
      stage: 'v1',
      requestId: REQUEST_ID,
      requestTimeEpoch: 0,
      resourceId: 'resource',
      resourcePath: path,
    },
    ...members,
  }
}

const NOBODY = {
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
  sourceIp: '127.0.0.1',
  user: null,
  userAgent: null,
  userArn: null,
}

export const context: Context = {
  callbackWaitsForEmptyEventLoop: false,
  functionName: 'function',
  functionVersion: '1',
  invokedFunctionArn: 'arn:aws:lambda:eu-central-1:000000000000:function:function',
  memoryLimitInMB: '256',
  awsRequestId: 'invocation-1',
  logGroupName: 'group',
  logStreamName: 'stream',
  getRemainingTimeInMillis: () => 29_000,
  done: () => {},
  fail: () => {},
  succeed: () => {},
}

/** An answer as a client sees it. */
export function seen({ statusCode, headers, body }: ApiResult) {
  return { statusCode, headers, body: JSON.parse(body) }
}

/** Keeps what is logged from now on, in place of printing it. */
export function captureLog(): { text(): string; entries(): Record<string, unknown>[] } {
  const lines: string[] = []
  for (const stream of [process.stdout, process.stderr]) {
    jest.spyOn(stream, 'write').mockImplementation((chunk) => {
      lines.push(String(chunk))
      return true
    })
  }
  return { text: () => lines.join(''), entries: () => lines.map((line) => JSON.parse(line)) }
}
