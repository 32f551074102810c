import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Environment } from '../config/platform-facts.ts'

/** Credentials that sign requests to the engines. */
export type EngineCredentials = { readonly accessKeyId: string; readonly secretAccessKey: string }

/** The same at every start, because some DynamoDB-compatible engines keep separate tables for each id. */
const ACCESS_KEY_ID = 'S3RVER'

const SECRET_BYTES = 32

const SIMULATOR_KEY_VARIABLE = 'REELGATE_SIMULATOR_KEY'

/** Endpoints of external engines. */
const ENDPOINT_VARIABLES = ['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_DYNAMODB', 'AWS_ENDPOINT_URL_S3'] as const

/** Other sources of credentials, which would take precedence over the pair or mix with it. */
const OTHER_SOURCES = ['AWS_SESSION_TOKEN', 'AWS_PROFILE'] as const

/**
 * The credentials that the engines of this start accept: a new secret, so that other users of the machine cannot use the ports.
 * @returns `isGiven` if the environment has credentials for an external engine; they are used for all.
 */
export function engineCredentials(environment: Environment): EngineCredentials & { readonly isGiven: boolean } {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment
  if (ENDPOINT_VARIABLES.some((name) => environment[name]) && accessKeyId && secretAccessKey) {
    return { accessKeyId, secretAccessKey, isGiven: true }
  }
  return { accessKeyId: ACCESS_KEY_ID, secretAccessKey: newSecret(), isGiven: false }
}

/** A key that the simulated upstreams of this start accept, set where the gateway looks for upstream keys. */
export function giveSimulatorKey(): { readonly name: string; readonly value: string } {
  const value = newSecret()
  process.env[SIMULATOR_KEY_VARIABLE] = value
  return { name: SIMULATOR_KEY_VARIABLE, value }
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

/** Makes the AWS clients of this process sign with these credentials only, whatever the environment has. */
export function signWith({ accessKeyId, secretAccessKey }: EngineCredentials): void {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey })
  for (const name of OTHER_SOURCES) {
    delete process.env[name]
  }
}

/** Lets engines start here, and no client use what the shell knows of an AWS account. */
export function forgetAws(environment: Environment): void {
  for (const name of Object.keys(environment).filter((each) => each.startsWith('AWS_'))) {
    Reflect.deleteProperty(environment, name)
  }
}

/** An incoming request; the path includes the query. */
export type SignedRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'>

/** The parts of a signature, from a header or from the query of a presigned url. */
type Claim = {
  readonly accessKeyId: string
  /** Date, region, service and `aws4_request`. */
  readonly scope: readonly string[]
  readonly signedHeaders: readonly string[]
  readonly signature: string
  readonly time: string
  readonly bodyDigest: string
}

const ALGORITHM = 'AWS4-HMAC-SHA256'
const SCOPE_PARTS = 4
const UNSIGNED_BODY = 'UNSIGNED-PAYLOAD'

/**
 * Whether a request was signed with these credentials, by AWS Signature Version 4 (IAM user guide, "Create a signed AWS API
 * request"), in the header or in the query. The body is not compared with its signed digest, because no one else can change traffic on
 * loopback. The age of a header does not matter; the server of a presigned url checks the url's age.
 */
export function isSignedWith(request: SignedRequest, { accessKeyId, secretAccessKey }: EngineCredentials): boolean {
  const claim = headerClaim(request) ?? queryClaim(request)
  if (claim === undefined || claim.scope.length !== SCOPE_PARTS || !claim.signedHeaders.includes('host')) {
    return false
  }
  const toSign = [ALGORITHM, claim.time, claim.scope.join('/'), hash('sha256', canonicalRequest(request, claim))].join(
    '\n',
  )
  const secret = Buffer.from(`AWS4${secretAccessKey}`)
  const key = claim.scope.reduce((previous, part) => createHmac('sha256', previous).update(part).digest(), secret)
  const expected = createHmac('sha256', key).update(toSign).digest('hex')
  return isSame(claim.accessKeyId, accessKeyId) && isSame(claim.signature, expected)
}

function headerClaim({ headers }: SignedRequest): Claim | undefined {
  const header = headers.authorization ?? ''
  if (!header.startsWith(`${ALGORITHM} `)) {
    return undefined
  }
  const parts = header.slice(ALGORITHM.length).split(',')
  const part = (name: string) =>
    parts
      .find((each) => each.trim().startsWith(`${name}=`))
      ?.trim()
      .slice(name.length + 1)
  const [accessKeyId = '', ...scope] = (part('Credential') ?? '').split('/')
  return {
    accessKeyId,
    scope,
    signedHeaders: (part('SignedHeaders') ?? '').split(';'),
    signature: part('Signature') ?? '',
    time: String(headers['x-amz-date'] ?? ''),
    bodyDigest: String(headers['x-amz-content-sha256'] ?? ''),
  }
}

function queryClaim(request: SignedRequest): Claim | undefined {
  const query = new Map(queryOf(request))
  const value = (name: string) => query.get(`X-Amz-${name}`) ?? ''
  if (value('Algorithm') !== ALGORITHM) {
    return undefined
  }
  const [accessKeyId = '', ...scope] = value('Credential').split('/')
  return {
    accessKeyId,
    scope,
    signedHeaders: value('SignedHeaders').split(';'),
    signature: value('Signature'),
    time: value('Date'),
    bodyDigest: UNSIGNED_BODY,
  }
}

function canonicalRequest(request: SignedRequest, { signedHeaders, bodyDigest }: Claim): string {
  const [path = '/'] = (request.url ?? '/').split('?')
  const query = queryOf(request)
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .sort(([left, leftValue], [right, rightValue]) => order(left, right) || order(leftValue, rightValue))
    .map((pair) => pair.join('='))
    .join('&')
  const headers = signedHeaders.map((name) => `${name}:${canonicalValue(request.headers[name])}\n`).join('')
  return [request.method, path, query, headers, signedHeaders.join(';'), bodyDigest].join('\n')
}

/** By code units, because the strings are ASCII. */
function order(left: string, right: string): number {
  return left < right ? -1 : Number(left > right)
}

function queryOf({ url = '/' }: SignedRequest): [string, string][] {
  return [...new URLSearchParams(url.split('?').slice(1).join('?').replaceAll('+', '%2B'))]
}

/** By RFC 3986, which escapes more characters than `encodeURIComponent`. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Trims a value and collapses spaces inside it. */
function canonicalValue(value: string | string[] | undefined): string {
  return String(value ?? '')
    .trim()
    .replaceAll(/\s+/g, ' ')
}

/** Compares digests, which have one length, so that the time reveals nothing. */
function isSame(left: string, right: string): boolean {
  return timingSafeEqual(hash('sha256', left, 'buffer'), hash('sha256', right, 'buffer'))
}
