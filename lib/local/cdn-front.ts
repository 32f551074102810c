import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { GetObjectCommand, type GetObjectCommandOutput, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { UnreadResponses } from '#adapters/http-server/unread-responses.ts'
import type { AllowedOrigins } from '#core/api/cross-origin.ts'
import { allowScripts } from './bucket-cors-rule.ts'
import type { CdnKey } from './cdn-key.ts'
import { isSignedUrlValid } from './signed-url-check.ts'

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
    const isServed = METHODS.has(request.method ?? '') || (request.method === 'OPTIONS' && corsOrigins.length > 0)
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

/** Methods that the CDN serves for everyone. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

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
