import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** An incoming request; the path includes the query. */
export type SignedRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'>

/** The parts of a signature, from a header or from the query of a presigned url. */
export type Claim = {
  readonly accessKeyId: string
  /** Date, region, service and `aws4_request`. */
  readonly scope: readonly string[]
  readonly signedHeaders: readonly string[]
  readonly signature: string
  readonly time: string
  readonly bodyDigest: string
}

const ALGORITHM = 'AWS4-HMAC-SHA256'
const UNSIGNED_BODY = 'UNSIGNED-PAYLOAD'

const SCOPE_PARTS = 4

/**
 * Whether a claim is the signature of a request with a secret, by AWS Signature Version 4 (IAM user guide, "Create a signed AWS API request").
 * @param path as it is signed: services other than S3 encode each segment once more.
 */
export function isSignature(request: SignedRequest, claim: Claim, secretAccessKey: string, path = pathOf(request)) {
  if (claim.scope.length !== SCOPE_PARTS || !claim.signedHeaders.includes('host')) {
    return false
  }
  const digest = hash('sha256', canonicalRequest(request, claim, path))
  const toSign = [ALGORITHM, claim.time, claim.scope.join('/'), digest].join('\n')
  const secret = Buffer.from(`AWS4${secretAccessKey}`)
  const key = claim.scope.reduce((previous, part) => createHmac('sha256', previous).update(part).digest(), secret)
  return isSame(claim.signature, createHmac('sha256', key).update(toSign).digest('hex'))
}

/** The path of a request as it was sent. */
export function pathOf({ url = '/' }: SignedRequest): string {
  return url.split('?')[0] || '/'
}

/** The signature in the headers of a request; undefined without one. */
export function headerClaim({ headers }: SignedRequest): Claim | undefined {
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

/** The signature in a presigned url; undefined without one. */
export function queryClaim(request: SignedRequest): Claim | undefined {
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

function canonicalRequest(request: SignedRequest, { signedHeaders, bodyDigest }: Claim, path: string): string {
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

/** Percent-encodes by RFC 3986, which escapes more characters than `encodeURIComponent`. */
export function encode(text: string): string {
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
export function isSame(left: string, right: string): boolean {
  return timingSafeEqual(hash('sha256', left, 'buffer'), hash('sha256', right, 'buffer'))
}
