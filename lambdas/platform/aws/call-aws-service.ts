import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto'
import { parseJsonObject } from '#core/json/parse-json-text.ts'
import { once, RecentValues } from '../cache.ts'
import { environmentVariable } from '../configuration.ts'
import { createHttpClient, exchangeWhole, type WholeLimits, type WholeResponse } from '../http/http-client.ts'

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

/** The credentials that sign a request. Those of a role include a session token. */
export type AwsCredentials = {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}

/** The credentials, the time, and the service and region that a signature is valid for. */
export type SigningScope = {
  readonly service: string
  readonly region: string
  readonly credentials: AwsCredentials
  readonly nowMilliseconds: number
}

/** A request without a query, with every header to sign, by its lower-case name, `host` included. */
export type UnsignedRequest = {
  /** Default: POST. */
  readonly method?: 'GET' | 'POST'
  /** Default: `/`. As it is sent. */
  readonly path?: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const ALGORITHM = 'AWS4-HMAC-SHA256'

/** A signing key is valid for one day, region and service: a process uses one or two at a time. */
const SIGNING_KEYS_MAX = 8

const signingKeys = new RecentValues<KeyObject>(SIGNING_KEYS_MAX)

/**
 * Signs a request with AWS Signature Version 4 (IAM user guide, "Create a signed AWS API request").
 * @returns the headers to send: the given ones, `x-amz-date`, the session token and `authorization`.
 */
export function signRequest(request: UnsignedRequest, scope: SigningScope): Record<string, string> {
  const { method = 'POST', path = '/', headers, body } = request
  const { accessKeyId, sessionToken } = scope.credentials
  const time = new Date(scope.nowMilliseconds).toISOString().replaceAll(/[:-]|\.\d{3}/g, '')
  const date = time.slice(0, 8)
  const signed: Record<string, string> = { ...headers, 'x-amz-date': time }
  if (sessionToken !== undefined) {
    signed['x-amz-security-token'] = sessionToken
  }
  const names = Object.keys(signed).sort()
  const canonicalHeaders = names.map((name) => `${name}:${canonicalValue(signed[name])}\n`).join('')
  const canonicalRequest = `${method}\n${canonicalPath(path)}\n\n${canonicalHeaders}\n${names.join(';')}\n${hash('sha256', body)}`
  const credentialScope = `${date}/${scope.region}/${scope.service}/aws4_request`
  const toSign = `${ALGORITHM}\n${time}\n${credentialScope}\n${hash('sha256', canonicalRequest)}`
  const signature = createHmac('sha256', signingKeyOf(scope, date)).update(toSign).digest('hex')
  signed.authorization = `${ALGORITHM} Credential=${accessKeyId}/${credentialScope}, SignedHeaders=${names.join(';')}, Signature=${signature}`
  return signed
}

/** Each segment is encoded once more than it is sent, by RFC 3986. */
function canonicalPath(path: string): string {
  return /^[\w./~-]*$/.test(path)
    ? path
    : path
        .split('/')
        .map((segment) => encodeURIComponent(segment).replaceAll(/[!'()*]/g, percentEncoded))
        .join('/')
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}

/** Blanks around a value are dropped, and a run of blanks inside it counts as one. */
function canonicalValue(value = ''): string {
  return value.trim().replaceAll(/\s+/g, ' ')
}

function signingKeyOf({ region, service, credentials }: SigningScope, date: string): KeyObject {
  const name = `${date}/${region}/${service}/${credentials.secretAccessKey}`
  const kept = signingKeys.get(name)
  if (kept !== undefined) {
    return kept
  }
  const parts = [date, region, service, 'aws4_request']
  const secret = Buffer.from(`AWS4${credentials.secretAccessKey}`)
  // Prepared once: a key in bytes would be prepared again for each signature.
  const key = createSecretKey(
    parts.reduce((previous, part) => createHmac('sha256', previous).update(part).digest(), secret),
  )
  signingKeys.set(name, key)
  return key
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
