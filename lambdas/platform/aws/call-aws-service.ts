import { parseJsonObject } from '#core/json/parse-json-text.ts'
import { once } from '../cache.ts'
import { environmentVariable } from '../configuration.ts'
import { createHttpClient, exchangeWhole, type WholeLimits, type WholeResponse } from '../http/http-client.ts'
import { type AwsCredentials, signRequest } from './signature-v4.ts'

/** Services that are called without the SDK, by their names in signatures and hosts. */
export type AwsServiceName = 'dynamodb' | 'secretsmanager' | 'sts'

/** The SDK's own variables for endpoints. */
const ENDPOINT_VARIABLES = {
  dynamodb: 'AWS_ENDPOINT_URL_DYNAMODB',
  secretsmanager: 'AWS_ENDPOINT_URL_SECRETS_MANAGER',
  sts: 'AWS_ENDPOINT_URL_STS',
} as const

/** Where requests for a service go, and the region in their signatures. */
export type AwsEndpoint = { readonly region: string; readonly url: URL }

/** One value per service. An endpoint changes between tests, but never within a function. */
const kept = new Map<AwsServiceName, { readonly region: string; readonly address: string; readonly url: URL }>()

/**
 * The endpoint of a service: the one that the environment names, or else the public one of the function's region.
 * @throws MissingEnvironmentError without AWS_REGION.
 */
export function awsEndpoint(service: AwsServiceName): AwsEndpoint {
  const region = environmentVariable('AWS_REGION')
  const address = process.env[ENDPOINT_VARIABLES[service]] || process.env.AWS_ENDPOINT_URL || publicUrl(service, region)
  const last = kept.get(service)
  if (last?.address === address && last.region === region) {
    return last
  }
  const endpoint = { region, address, url: new URL(address) }
  kept.set(service, endpoint)
  return endpoint
}

/** The partition of China has a different suffix (AWS general reference, "Regional endpoints"). */
function publicUrl(service: AwsServiceName, region: string): string {
  return `https://${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
}

/** The part of one item in the cancellation of a transaction; `Item` holds its old values where they were requested. */
export type CancellationReason = { readonly Code?: string; readonly Item?: Readonly<Record<string, unknown>> }

/**
 * An AWS service refused a request or failed. The fields are those of the SDK's errors: `name` is the service's name for the
 * error, and `$fault` tells whose fault it was.
 */
export class AwsServiceError extends Error {
  override readonly name: string
  readonly $fault: 'client' | 'server'
  readonly $metadata: { readonly httpStatusCode: number; readonly requestId: string | undefined }
  /** One reason per item of a cancelled transaction, in their order. */
  readonly CancellationReasons: readonly CancellationReason[] | undefined
  /** The item that refused an update, in wire format, where its old values were requested. */
  readonly Item: unknown

  constructor(status: number, requestId: string | undefined, body: Readonly<Record<string, unknown>> = {}) {
    const { __type: type, message, Message, CancellationReasons: reasons, Item } = body
    const name = typeof type === 'string' ? type.slice(type.indexOf('#') + 1) : 'UnknownError'
    super(String(message ?? Message ?? name))
    this.name = name
    this.$fault = status < 500 ? 'client' : 'server'
    this.$metadata = { httpStatusCode: status, requestId }
    this.CancellationReasons = Array.isArray(reasons) ? reasons : undefined
    this.Item = Item
  }
}

/**
 * No whole response arrived: no connection, none in time, or one that broke. The service may have done its work.
 * Without `$fault` it counts as contention, like the SDK's network errors (`retry-on-contention.ts`).
 */
export class AwsConnectionError extends Error {
  override readonly name = 'AwsConnectionError'
  readonly $metadata = {}
}

/** One operation of a service that speaks JSON. */
export type AwsCall = {
  readonly service: Exclude<AwsServiceName, 'sts'>
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

/** The protocol of each service: JSON in two versions, or a form (their API references, "Making requests"). */
const CONTENT_TYPES = {
  dynamodb: 'application/x-amz-json-1.0',
  secretsmanager: 'application/x-amz-json-1.1',
  sts: 'application/x-www-form-urlencoded',
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
  return await postToAws({ service, headers: { 'x-amz-target': target }, body, credentials: environmentCredentials() })
}

type AwsPost = {
  readonly service: AwsServiceName
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  readonly credentials: AwsCredentials
}

/**
 * Posts a signed request to a service, and reads the response whole, whatever its status.
 * @throws AwsConnectionError when no whole response arrived; MissingEnvironmentError without a region.
 */
export async function postToAws({ service, headers: added, body, credentials }: AwsPost): Promise<WholeResponse> {
  const { region, url } = awsEndpoint(service)
  const unsigned = { host: url.host, 'content-type': CONTENT_TYPES[service], ...added }
  const scope = { service, region, credentials, nowMilliseconds: Date.now() }
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
  timeout: 'no response in time',
}

/** Lambda provides the credentials of the function's role in these variables. @throws MissingEnvironmentError */
export function environmentCredentials(): AwsCredentials {
  return {
    accessKeyId: environmentVariable('AWS_ACCESS_KEY_ID'),
    secretAccessKey: environmentVariable('AWS_SECRET_ACCESS_KEY'),
    sessionToken: process.env.AWS_SESSION_TOKEN || undefined,
  }
}
