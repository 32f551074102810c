import { createVerify, generateKeyPair } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { GetObjectCommand, type GetObjectCommandOutput, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3'
import {
  type AllowedOrigins,
  allowedOriginOf,
  EXPOSED_VIDEO_HEADERS,
  PREFLIGHT_SECONDS,
} from '#core/api/cross-origin.ts'
import { SIGNING_KEY_BITS } from '#core/cdn-signing-keys.ts'
import { publicKeyOf } from '#platform/cdn/signing-key-secret.ts'
import { UnreadResponses } from '#platform/http-server/unread-responses.ts'
import { replaceFile } from '../config/replace-file.ts'

/** What S3 names for a bucket with rules, whichever of them apply. */
const VARY = 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method'

const METHODS: readonly string[] = ['GET', 'HEAD']

/**
 * Applies the rule of the bucket (`lib/stack/buckets.ts`) to a request for a video or to its preflight: sets the headers
 * of the response as S3 would.
 * @returns whether the origin and the method are allowed.
 */
export function allowScripts(
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  response: Pick<ServerResponse, 'setHeader'>,
  allowed: AllowedOrigins,
): boolean {
  response.setHeader('vary', VARY)
  const origin = allowedOriginOf(headers.origin, allowed)
  const wanted = method === 'OPTIONS' ? headers['access-control-request-method'] : method
  if (origin === undefined || !METHODS.includes(wanted ?? '')) {
    return false
  }
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('access-control-allow-methods', METHODS.join(', '))
  response.setHeader('access-control-expose-headers', EXPOSED_VIDEO_HEADERS.join(', '))
  if (method === 'OPTIONS') {
    response.setHeader('access-control-max-age', PREFLIGHT_SECONDS)
    const requested = headers['access-control-request-headers']
    if (requested !== undefined) {
      response.setHeader('access-control-allow-headers', requested)
    }
  }
  return true
}

const SIGNED = ['Expires', 'Signature', 'Key-Pair-Id'] as const

/**
 * CloudFront's check of a url with a canned policy: a known key, a signature over exactly this resource and expiry, and not expired. A
 * repeated parameter would be ambiguous, so each must occur once.
 * @param requestUrl the whole url as sent by the client.
 */
export function isSignedUrlValid(requestUrl: string, key: CdnKey, nowSeconds: number): boolean {
  const url = new URL(requestUrl)
  const [expires, signature, keyPairId] = SIGNED.map((name) => onlyValue(url, name))
  if (expires === undefined || signature === undefined || keyPairId !== key.keyPairId) {
    return false
  }
  if (!/^\d{1,12}$/.test(expires) || nowSeconds >= Number(expires)) {
    return false
  }
  const resource = resourceOf(requestUrl)
  const policy = `{"Statement":[{"Resource":"${resource}","Condition":{"DateLessThan":{"AWS:EpochTime":${expires}}}}]}`
  const bytes = decode(signature)
  return bytes !== undefined && createVerify('RSA-SHA1').update(policy).verify(key.publicKeyPem, bytes)
}

function onlyValue(url: URL, name: string): string | undefined {
  const [value, ...others] = url.searchParams.getAll(name)
  return others.length === 0 ? value : undefined
}

/** Base64 in CloudFront's alphabet; undefined for any other encoding of the same bytes. */
function decode(signature: string): Buffer | undefined {
  const base64 = signature.replaceAll('-', '+').replaceAll('_', '=').replaceAll('~', '/')
  const bytes = Buffer.from(base64, 'base64')
  return bytes.toString('base64') === base64 ? bytes : undefined
}

/** The signed resource: the url with every query parameter except those of the signature, in order. */
function resourceOf(requestUrl: string): string {
  const [path = '', query = ''] = requestUrl.split('?')
  const parameters = query.split('&').filter((parameter) => !/^(Expires|Signature|Key-Pair-Id)=/.test(parameter))
  return parameters.length === 0 ? path : `${path}?${parameters.join('&')}`
}

type CdnOptions = {
  readonly bucketName: string
  readonly key: CdnKey
  readonly baseUrl: () => string
  readonly unread?: UnreadResponses
  /** Origins whose scripts may read videos. */
  readonly corsOrigins?: AllowedOrigins
}

/** The memory of one transfer: the buffers of both connections. */
const TRANSFER_BYTES = 256 * 1024

/** More than the budget of unread bytes allows, so that clients who do not read block no others from the bucket. */
const CONNECTIONS_MAX = 2_048

/** Videos are served below this path, the prefix of their object keys. */
export const CDN_PATH_PREFIX = '/v/'

/**
 * Serves stored videos as the CDN would: signed urls only, byte ranges, and one refusal for everything else
 * (like CloudFront, it does not distinguish a missing object from a forbidden one).
 */
export function createCdnFront(options: CdnOptions) {
  const { bucketName, key, baseUrl, unread = new UnreadResponses(), corsOrigins = [] } = options
  const client = new S3Client({ requestHandler: { httpAgent: { maxSockets: CONNECTIONS_MAX } } })
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(baseUrl() + (request.url ?? '/'))
    const isServed = METHODS.includes(request.method ?? '') || (request.method === 'OPTIONS' && corsOrigins.length > 0)
    if (!isServed || !isSignedUrlValid(`${baseUrl()}${url.pathname}${url.search}`, key, Date.now() / 1000)) {
      refuse(response)
      return
    }
    const isAllowed = corsOrigins.length > 0 && allowScripts(request, response, corsOrigins)
    if (request.method === 'OPTIONS') {
      respondToPreflight(response, isAllowed)
      return
    }
    const object = await getObject(client, {
      Bucket: bucketName,
      Key: url.pathname.slice(1),
      Range: request.headers.range,
    })
    if (object === 'missing') {
      refuse(response)
    } else if (object === 'bad range') {
      response.writeHead(416).end()
    } else {
      const held = unread.hold('cdn', TRANSFER_BYTES, () => response.destroy())
      response.on('drain', held.taken).once('close', held.release)
      await send(object, request, response)
    }
  }
}

type ObjectRequest = { Bucket: string; Key: string; Range: string | undefined }

async function getObject(
  client: S3Client,
  input: ObjectRequest,
): Promise<GetObjectCommandOutput | 'missing' | 'bad range'> {
  try {
    return await client.send(new GetObjectCommand({ ...input, Range: await absoluteRange(client, input) }))
  } catch (error) {
    return error instanceof Error && error.name === 'InvalidRange' ? 'bad range' : 'missing'
  }
}

/**
 * One range in the form that the local engine reads correctly. The engine serves the first bytes for `bytes=-50`, where S3 and every CDN
 * serve the last fifty (players look for an index there). Several ranges and invalid ranges are ignored, as in S3.
 */
async function absoluteRange(client: S3Client, { Bucket, Key, Range }: ObjectRequest): Promise<string | undefined> {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(Range ?? '') ?? []
  if (first !== '') {
    return last !== '' && Number(last) < Number(first) ? undefined : Range
  }
  if (last === '') {
    return undefined
  }
  const { ContentLength = 0 } = await client.send(new HeadObjectCommand({ Bucket, Key }))
  return `bytes=${Math.max(0, ContentLength - Number(last))}-`
}

async function send(object: GetObjectCommandOutput, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.writeHead(object.ContentRange === undefined ? 200 : 206, {
    'content-type': object.ContentType ?? 'video/mp4',
    'content-length': object.ContentLength,
    'accept-ranges': 'bytes',
    ...(object.ContentRange === undefined ? {} : { 'content-range': object.ContentRange }),
    ...(object.ETag === undefined ? {} : { etag: object.ETag }),
  })
  if (request.method === 'HEAD' || !(object.Body instanceof Readable)) {
    response.end()
    return
  }
  // A client may leave during the transfer.
  await pipeline(object.Body, response).catch(() => undefined)
}

const REFUSAL =
  '<?xml version="1.0" encoding="UTF-8"?><Error><Code>AccessDenied</Code><Message>Access denied</Message></Error>'

/** As S3 does for a bucket with rules. */
function respondToPreflight(response: ServerResponse, isAllowed: boolean): void {
  if (isAllowed) {
    response.writeHead(200, { 'content-length': 0 }).end()
  } else {
    refuse(response)
  }
}

function refuse(response: ServerResponse): void {
  response.writeHead(403, { 'content-type': 'application/xml', 'content-length': REFUSAL.length }).end(REFUSAL)
}

/** The key pair that signs video urls: a CloudFront key group on AWS, a file of the data directory here. */
export type CdnKey = { readonly keyPairId: string; readonly privateKeyPem: string; readonly publicKeyPem: string }

const LOCAL_KEY_PAIR_ID = 'K1LOCALKEYPAIR'

/**
 * Reads the key pair of a data directory, or creates one, so that urls stay valid over a restart. A file without a key is reported on
 * stderr and replaced, which invalidates earlier urls. A new pair takes some tenths of a second, in another thread.
 */
export async function openCdnKey(file: string): Promise<CdnKey> {
  const kept = existsSync(file) ? readKey(file) : undefined
  return kept ?? (await makeKey(file))
}

function readKey(file: string): CdnKey | undefined {
  const text = readFileSync(file, 'utf8')
  try {
    return keyOf(text)
  } catch {
    // The error may quote the key.
    console.error(`${file} holds no key: it is made anew, and urls of videos that were signed before are refused`)
    return undefined
  }
}

async function makeKey(file: string): Promise<CdnKey> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: SIGNING_KEY_BITS })
  const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  replaceFile(file, privateKeyPem, 0o600)
  return keyOf(privateKeyPem)
}

function keyOf(privateKeyPem: string): CdnKey {
  return { keyPairId: LOCAL_KEY_PAIR_ID, privateKeyPem, publicKeyPem: publicKeyOf(privateKeyPem) }
}
