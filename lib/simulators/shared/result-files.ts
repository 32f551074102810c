import { createHmac } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { parseByteRange } from './byte-range.ts'
import { type Clip, readClip } from './clip-files.ts'
import type { ResultTrick } from './magic-prompt.ts'
import type { SimulatorRequest, SimulatorResponse } from './simulator-server.ts'

/** The result of one task. */
type ResultFile = { readonly clip: Clip; readonly trick: ResultTrick | undefined }

type ResultFilesOptions = {
  readonly now: () => number
  /** Returns the result of a task, or undefined for an unknown or removed one. */
  readonly find: (taskId: string) => ResultFile | undefined
}

type ResultUrl = {
  readonly baseUrl: string
  readonly taskId: string
  readonly extension: 'mp4' | 'png'
  readonly expiresAtMs: number
}

/** A constant, not a secret: manipulated urls fail like real ones, and urls survive a restart. */
const SIGNING_KEY = 'simulator'

const RESULT_PATH = /^\/results\/([A-Za-z0-9_-]+)\.(mp4|png)$/

/** Target of `[redirect:private]`: the metadata service with the credentials of a cloud machine. */
const PRIVATE_ADDRESS = 'http://169.254.169.254/latest/meta-data/'

/** One grey pixel, for `last_frame_url`. */
const LAST_FRAME = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==',
  'base64',
)

/** Presigned result urls and their content. */
export class ResultFiles {
  readonly #options: ResultFilesOptions
  readonly #cutOnce = new Set<string>()

  constructor(options: ResultFilesOptions) {
    this.#options = options
  }

  /** A url that is valid until `expiresAtMs`, deterministic by its arguments. */
  url({ baseUrl, taskId, extension, expiresAtMs }: ResultUrl): string {
    const path = `/results/${taskId}.${extension}`
    const expires = String(Math.floor(expiresAtMs / 1000))
    return `${baseUrl}${path}?Expires=${expires}&Signature=${signatureOf(path, expires)}`
  }

  /** Responds to a request below `/results/`. Undefined for any other path. */
  answer(request: SimulatorRequest, baseUrl: string): SimulatorResponse | undefined {
    const url = new URL(request.path, baseUrl)
    const match = RESULT_PATH.exec(url.pathname)
    if (match === null) {
      return undefined
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return storageError(405, 'MethodNotAllowed')
    }
    const expires = url.searchParams.get('Expires') ?? ''
    if (url.searchParams.get('Signature') !== signatureOf(url.pathname, expires)) {
      return storageError(403, 'SignatureDoesNotMatch')
    }
    if (this.#options.now() >= Number(expires) * 1000) {
      return storageError(403, 'AccessDenied')
    }
    const taskId = match[1] ?? ''
    const file = this.#options.find(taskId)
    if (file === undefined) {
      return storageError(404, 'NoSuchKey')
    }
    if (match[2] === 'png') {
      return fileResponse(request, LAST_FRAME, 'image/png')
    }
    return this.#trickResponse({ taskId, file, url }) ?? fileResponse(request, readClip(file.clip), 'video/mp4')
  }

  #trickResponse(asked: { taskId: string; file: ResultFile; url: URL }): SimulatorResponse | undefined {
    const { taskId, file, url } = asked
    switch (file.trick) {
      case 'not-video':
        return rawResponse(
          200,
          { 'content-type': 'video/mp4' },
          Buffer.from('<!doctype html><title>Not a video</title>\n'),
        )
      case 'empty':
        return rawResponse(200, { 'content-type': 'video/mp4' }, Buffer.alloc(0))
      case 'cut':
        return cutResponse(readClip(file.clip))
      case 'cut:once': {
        const isFirst = !this.#cutOnce.has(taskId)
        this.#cutOnce.add(taskId)
        return isFirst ? cutResponse(readClip(file.clip)) : undefined
      }
      case 'redirect':
        return url.searchParams.has('hop') ? undefined : redirectAnswer(`${url.href}&hop=1`)
      case 'redirect:private':
        return redirectAnswer(PRIVATE_ADDRESS)
      case 'no-url':
      case undefined:
        return undefined
      default:
        return file.trick satisfies never
    }
  }
}

function signatureOf(path: string, expires: string): string {
  return createHmac('sha256', SIGNING_KEY).update(`${path}\n${expires}`).digest('base64url')
}

function fileResponse(request: SimulatorRequest, bytes: Buffer, contentType: string): SimulatorResponse {
  const headers = { 'content-type': contentType, 'accept-ranges': 'bytes' }
  const range = parseByteRange(request.headers.range, bytes.length)
  if (range === undefined) {
    return rawResponse(416, { ...headers, 'content-range': `bytes */${bytes.length}` }, Buffer.alloc(0))
  }
  if (range === 'whole') {
    return rawResponse(200, headers, bytes)
  }
  const contentRange = `bytes ${range.start}-${range.end}/${bytes.length}`
  return rawResponse(206, { ...headers, 'content-range': contentRange }, bytes.subarray(range.start, range.end + 1))
}

function redirectAnswer(location: string): SimulatorResponse {
  return rawResponse(302, { location }, Buffer.alloc(0))
}

/** Announces all bytes, sends half of them and disconnects. */
function cutResponse(bytes: Buffer): SimulatorResponse {
  const write = (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': bytes.length })
    response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy())
  }
  return { kind: 'raw', write }
}

function storageError(status: number, code: string): SimulatorResponse {
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code></Error>\n`
  return rawResponse(status, { 'content-type': 'application/xml' }, Buffer.from(text))
}

function rawResponse(status: number, headers: Readonly<Record<string, string>>, bytes: Buffer): SimulatorResponse {
  const write = (response: ServerResponse) => {
    response.writeHead(status, { ...headers, 'content-length': bytes.length })
    response.end(bytes)
  }
  return { kind: 'raw', write }
}
