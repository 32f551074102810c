import { parseJsonObject } from '#core/json/json-object.ts'
import { environmentVariable } from '../environment.ts'
import { exchangeWhole, type WholeLimits, type WholeResponse } from '../http/exchange-whole.ts'
import { createHttpClient } from '../http/http-client.ts'
import { once } from '../once.ts'
import { type AwsServiceName, awsEndpoint } from './aws-endpoint.ts'
import { AwsConnectionError, AwsServiceError } from './aws-service-error.ts'
import { type AwsCredentials, signRequest } from './sign-request.ts'

/** One operation of a service that speaks JSON. */
export type AwsCall = {
  readonly service: AwsServiceName
  /** `X-Amz-Target`, such as `DynamoDB_20120810.GetItem`. */
  readonly target: string
  /**
   * JSON. The request may be sent twice, so the operation must be safe to repeat: a read, a write with a token, or an
   * update that may count twice.
   */
  readonly body: string
}

/** Calls a service and returns the parsed response; see {@link callAwsService}. */
export type CallAws = (call: AwsCall) => Promise<Readonly<Record<string, unknown>>>

const LIMITS: WholeLimits = {
  /** A connection within a region takes a few milliseconds. */
  connectMilliseconds: 1_000,
  /** Far above what a healthy service takes, while a client waits. */
  totalMilliseconds: 3_000,
  /** The largest response of DynamoDB holds 16 MB of items (BatchGetItem); JSON writes some of them longer. */
  bytesMax: 32 * 1024 * 1024,
  connection: 'pooled',
}

/** The protocol of each service: `application/x-amz-json-1.0` or `1.1` (their API references, "Making requests"). */
const CONTENT_TYPES = {
  dynamodb: 'application/x-amz-json-1.0',
  secretsmanager: 'application/x-amz-json-1.1',
} as const

const httpClient = once(createHttpClient)

/**
 * Calls one operation of an AWS service over a pooled connection. The request is signed with the credentials of the
 * environment, which are read again for each call.
 * @throws AwsServiceError when the service refused or failed, with what it said.
 * @throws AwsConnectionError when no whole response arrived; the service may have done its work.
 * @throws MissingEnvironmentError without region or credentials.
 */
export async function callAwsService(call: AwsCall): Promise<Readonly<Record<string, unknown>>> {
  const { status, headers, text } = await exchange(call)
  const body = parseJsonObject(text)
  if (status !== 200) {
    const requestId = headers['x-amzn-requestid']
    throw new AwsServiceError(status, typeof requestId === 'string' ? requestId : undefined, body)
  }
  if (body === undefined) {
    throw new AwsConnectionError('the response is not JSON')
  }
  return body
}

async function exchange({ service, target, body }: AwsCall): Promise<WholeResponse> {
  const { region, url } = awsEndpoint(service)
  const unsigned = { host: url.host, 'content-type': CONTENT_TYPES[service], 'x-amz-target': target }
  const scope = { service, region, credentials: readCredentials(), nowMilliseconds: Date.now() }
  const headers = { ...signRequest({ headers: unsigned, body }, scope), 'content-length': `${Buffer.byteLength(body)}` }
  const outcome = await exchangeWhole(httpClient(), {
    method: 'POST',
    url: url.origin,
    headers,
    body,
    limits: LIMITS,
  })
  if (outcome.kind === 'response') {
    return outcome
  }
  throw new AwsConnectionError(CONNECTION_MESSAGES[outcome.reason] ?? `the connection failed: ${outcome.reason}`)
}

const CONNECTION_MESSAGES: Readonly<Record<string, string>> = {
  'connect timeout': 'no connection in time',
  timeout: 'no answer in time',
}

/** Lambda provides the credentials of the function's role in these variables. */
function readCredentials(): AwsCredentials {
  return {
    accessKeyId: environmentVariable('AWS_ACCESS_KEY_ID'),
    secretAccessKey: environmentVariable('AWS_SECRET_ACCESS_KEY'),
    sessionToken: process.env.AWS_SESSION_TOKEN || undefined,
  }
}
