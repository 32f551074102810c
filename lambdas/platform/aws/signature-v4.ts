import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto'
import { RecentValues } from '../cache.ts'

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
