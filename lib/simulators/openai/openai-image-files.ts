import { createHmac } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { SimulatorRequest, SimulatorResponse } from '../shared/simulator-server.ts'
import { gradientPng, type ImageSize } from './openai-png.ts'

/** A constant, not a secret: manipulated urls fail like real ones, and urls survive a restart. */
const SIGNING_KEY = 'simulator'

/** Real image urls work for about an hour. */
const URL_SECONDS = 60 * 60

const IMAGE_PATH = /^\/images\/(\d+)-(\d+)x(\d+)\.png$/

/** An image that its name determines, so that nothing needs to be stored. */
export type SimulatedImage = { readonly seed: number; readonly size: ImageSize }

/** A url that is valid for an hour from `nowMilliseconds`. */
export function imageUrl({ seed, size }: SimulatedImage, origin: string, nowMilliseconds: number): string {
  const path = `/images/${seed}-${size.width}x${size.height}.png`
  const expires = new Date(nowMilliseconds + URL_SECONDS * 1000).toISOString()
  return `${origin}${path}?se=${encodeURIComponent(expires)}&sig=${signatureOf(path, expires)}`
}

/** Responds to a request for an image, without a bearer token. Undefined for any other path. */
export function answerImageRequest(
  request: SimulatorRequest,
  origin: string,
  nowMilliseconds: number,
): SimulatorResponse | undefined {
  const url = new URL(request.path, origin)
  const [, seed, width, height] = IMAGE_PATH.exec(url.pathname) ?? []
  if (seed === undefined) {
    return undefined
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return storageError(405, 'UnsupportedHttpVerb')
  }
  const expires = url.searchParams.get('se') ?? ''
  if (url.searchParams.get('sig') !== signatureOf(url.pathname, expires) || nowMilliseconds >= Date.parse(expires)) {
    return storageError(403, 'AuthenticationFailed')
  }
  const bytes = gradientPng(Number(seed), { width: Number(width), height: Number(height) })
  return fileResponse(200, 'image/png', bytes)
}

function signatureOf(path: string, expires: string): string {
  return createHmac('sha256', SIGNING_KEY).update(`${path}\n${expires}`).digest('base64url')
}

function storageError(status: number, code: string): SimulatorResponse {
  const text = `<?xml version="1.0" encoding="utf-8"?>\n<Error><Code>${code}</Code></Error>\n`
  return fileResponse(status, 'application/xml', Buffer.from(text))
}

function fileResponse(status: number, contentType: string, bytes: Buffer): SimulatorResponse {
  const write = (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': contentType, 'content-length': bytes.length })
    response.end(bytes)
  }
  return { kind: 'raw', write }
}
