import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Exchange, SimulatorRequest } from './server.ts'
import type { MagicPrompt } from './video-magic-words.ts'

/** A constant, not a secret: manipulated urls fail like real ones, and urls survive a restart. */
const SIGNING_KEY = 'simulator'
/** Target of `[redirect:private]`: the metadata service with the credentials of a cloud machine. */
const PRIVATE_ADDRESS = 'http://169.254.169.254/latest/meta-data/'
const RESULT_PATH = /^\/(?:results|images)\/([A-Za-z0-9_-]+)\.(mp4|png)$/

/** A presigned url of a file of this server, which works until `expiresAtMs`. It is the same for the same arguments. */
export function fileUrl(origin: string, path: string, expiresAtMs: number): string {
  const expires = String(Math.floor(expiresAtMs / 1000))
  return `${origin}${path}?Expires=${expires}&Signature=${signatureOf(path, expires)}`
}

function signatureOf(path: string, expires: string): string {
  return createHmac('sha256', SIGNING_KEY).update(`${path}\n${expires}`).digest('base64url')
}

/** The video of one task. */
type ResultVideo = ClipWish & { readonly trick: MagicPrompt['resultTrick'] }

/** Serves presigned files, without a bearer token. */
export class ResultFiles {
  readonly #now: () => number
  readonly #find: (taskId: string) => ResultVideo | undefined
  readonly #cutOnce = new Set<string>()

  /** @param find returns the video of a task; undefined for an unknown or removed task. Every image has the same bytes. */
  constructor(now: () => number, find: (taskId: string) => ResultVideo | undefined = () => undefined) {
    this.#now = now
    this.#find = find
  }

  /** Responds to a request for a file. False for any other path. */
  async serve(request: SimulatorRequest, exchange: Exchange): Promise<boolean> {
    const url = new URL(request.path, exchange.origin)
    const [, id, type] = RESULT_PATH.exec(url.pathname) ?? []
    if (id === undefined) {
      return false
    }
    const expires = url.searchParams.get('Expires') ?? ''
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      sendError(exchange, 405, 'MethodNotAllowed')
    } else if (url.searchParams.get('Signature') !== signatureOf(url.pathname, expires)) {
      sendError(exchange, 403, 'SignatureDoesNotMatch')
    } else if (this.#now() >= Number(expires) * 1000) {
      sendError(exchange, 403, 'AccessDenied')
    } else if (type === 'png') {
      sendRange(request, exchange, 'image/png', stockImage())
    } else {
      await this.#serveVideo({ id, url, request, exchange })
    }
    return true
  }

  async #serveVideo(asked: { id: string; url: URL; request: SimulatorRequest; exchange: Exchange }): Promise<void> {
    const { id, url, request, exchange } = asked
    const video = this.#find(id)
    if (video === undefined) {
      sendError(exchange, 404, 'NoSuchKey')
      return
    }
    const bytes = readClip(clipFor(video))
    const isFirst = !this.#cutOnce.has(id)
    this.#cutOnce.add(id)
    const type = { 'content-type': 'video/mp4' }
    if (video.trick === 'not-video') {
      exchange.send(200, type, '<!doctype html><title>Not a video</title>\n')
    } else if (video.trick === 'empty') {
      exchange.send(200, type, '')
    } else if (video.trick === 'cut' || (video.trick === 'cut:once' && isFirst)) {
      exchange.open(200, { ...type, 'content-length': bytes.length })
      await exchange.write(bytes.subarray(0, Math.floor(bytes.length / 2)))
      exchange.cut()
    } else if (video.trick === 'redirect' && !url.searchParams.has('hop')) {
      exchange.send(302, { location: `${url.href}&hop=1` }, '')
    } else if (video.trick === 'redirect:private') {
      exchange.send(302, { location: PRIVATE_ADDRESS }, '')
    } else {
      sendRange(request, exchange, 'video/mp4', bytes)
    }
  }
}

function sendError(exchange: Exchange, status: number, code: string): void {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code></Error>\n`
  exchange.send(status, { 'content-type': 'application/xml' }, body)
}

/** Sends a file, or the one range of it that the request asks for. */
function sendRange(request: SimulatorRequest, exchange: Exchange, contentType: string, bytes: Buffer): void {
  const headers = { 'content-type': contentType, 'accept-ranges': 'bytes' }
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '') ?? []
  if (first === '' && last === '') {
    exchange.send(200, headers, bytes)
    return
  }
  const start = first === '' ? Math.max(0, bytes.length - Number(last)) : Number(first)
  const end = first === '' || last === '' ? bytes.length : Math.min(Number(last) + 1, bytes.length)
  if (start >= end) {
    exchange.send(416, { ...headers, 'content-range': `bytes */${bytes.length}` }, '')
    return
  }
  const contentRange = `bytes ${start}-${end - 1}/${bytes.length}`
  exchange.send(206, { ...headers, 'content-range': contentRange }, bytes.subarray(start, end))
}

/** The picture that every image of a simulator shows. */
export function stockImage(): Buffer {
  return readOnce(new URL('image.png', import.meta.url))
}

/** What a clip should be like. A `ratio` other than `W:H` counts as 16:9. */
type ClipWish = { readonly ratio: string; readonly seconds: number }
/** A video from `clips/`. `seconds` is its true length, to the frame. */
type Clip = { readonly fileName: string; readonly seconds: number }

const CLIP_SECONDS_MIN = 3
const CLIP_SECONDS_MAX = 15
const CLIP_SHAPES = { '16x9': 16 / 9, '9x16': 9 / 16, '1x1': 1 }
/** 4:3 is exactly between 16:9 and 1:1. The earlier shape wins ties, so landscape stays landscape. */
const TIE = 1e-9

/** The clip with the nearest length and shape. */
export function clipFor({ ratio, seconds: wanted }: ClipWish): Clip {
  const [width = 0, height = 0] = ratio.split(':').map(Number)
  const shape = width > 0 && height > 0 ? width / height : 16 / 9
  // The logarithm makes twice as wide as distant as twice as high.
  const shapes = Object.entries(CLIP_SHAPES).map(([name, own]) => ({ name, distance: Math.abs(Math.log(own / shape)) }))
  const { name } = shapes.reduce((nearest, other) => (other.distance < nearest.distance - TIE ? other : nearest))
  const seconds = Math.min(CLIP_SECONDS_MAX, Math.max(CLIP_SECONDS_MIN, Math.round(wanted)))
  return { fileName: `${name}-${String(seconds).padStart(2, '0')}s.mp4`, seconds }
}

/** The bytes of a clip. */
export function readClip({ fileName }: Clip): Buffer {
  return readOnce(new URL(`clips/${fileName}`, import.meta.url))
}

const files = new Map<string, Buffer>()

function readOnce(file: URL): Buffer {
  const bytes = files.get(file.href) ?? readFileSync(file)
  files.set(file.href, bytes)
  return bytes
}
