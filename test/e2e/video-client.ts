import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { pngFile } from '../core/media-files.ts'
import { requireDocumented } from '../openapi/documented-answer.ts'
import { listenHttp } from '../platform/http/loopback.ts'

export type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: Record<string, unknown>
}

const JOBS = '/v1/video/generations'
const END_MILLISECONDS_MAX = 240_000
/** Between two looks: dozens of jobs are waited for side by side, and each look is work for both processes. */
const LOOK_MILLISECONDS = 250

/** The video routes, by plain fetch. */
export class VideoApi {
  readonly #url: string
  readonly #key: string | undefined

  constructor(url: string, key: string | undefined) {
    this.#url = url
    this.#key = key
  }

  withKey(key: string | undefined): VideoApi {
    return new VideoApi(this.#url, key)
  }

  create(body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('POST', JOBS, typeof body === 'string' ? body : JSON.stringify(body), headers)
  }

  get(id: string): Promise<Answer> {
    return this.send('GET', `${JOBS}/${id}`)
  }

  list(query = ''): Promise<Answer> {
    return this.send('GET', JOBS + query)
  }

  delete(id: string): Promise<Answer> {
    return this.send('DELETE', `${JOBS}/${id}`)
  }

  async send(method: string, path: string, body?: string, headers: Record<string, string> = {}): Promise<Answer> {
    const authorization = this.#key === undefined ? {} : { authorization: `Bearer ${this.#key}` }
    const init = { method, headers: { ...authorization, ...headers }, ...(body === undefined ? {} : { body }) }
    const response = await fetch(this.#url + path, init)
    const text = await response.text()
    const contentType = response.headers.get('content-type')
    requireDocumented({ method, path: path.split('?')[0] ?? '', status: response.status, contentType, text })
    return { status: response.status, headers: response.headers, text, json: parse(text) }
  }

  /** Polls until the job has one of the statuses. */
  async until(id: string, ...statuses: string[]): Promise<Record<string, unknown>> {
    const giveUpAt = Date.now() + END_MILLISECONDS_MAX
    for (;;) {
      const { json } = await this.get(id)
      if (statuses.includes(String(json.status))) {
        return json
      }
      if (Date.now() > giveUpAt) {
        throw new Error(`job ${id} is ${json.status}, not ${statuses.join(' or ')}`)
      }
      await delay(LOOK_MILLISECONDS)
    }
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** Awaits a condition that another process makes true. */
export async function eventually<Value>(read: () => Promise<Value>, isSo: (value: Value) => boolean): Promise<Value> {
  const giveUpAt = Date.now() + END_MILLISECONDS_MAX
  for (;;) {
    const value = await read()
    if (isSo(value)) {
      return value
    }
    if (Date.now() > giveUpAt) {
      throw new Error(`never so: ${JSON.stringify(value)}`)
    }
    await delay(LOOK_MILLISECONDS)
  }
}

export type Received = { readonly body: string; readonly headers: Record<string, string> }

/** A client's server that keeps every callback. */
export async function startReceiver(status = 204) {
  const received: Received[] = []
  const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) {
      chunks.push(chunk)
    }
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    received.push({ body: Buffer.concat(chunks).toString('utf8'), headers })
    response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    origin: `http://127.0.0.1:${port}`,
    received,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const size = { width: 640, height: 480 }
const FILES: Readonly<Record<string, Buffer>> = {
  '/a.png': pngFile(size),
  '/b.png': pngFile(size),
  '/flat.png': pngFile({ width: 900, height: 300 }),
  '/a.mp4': readFileSync(new URL('../../lib/simulators/clips/16x9-03s.mp4', import.meta.url)),
}

/** A client's storage, which answers ranges and notes them. */
export async function startReferenceFiles() {
  const ranges: string[] = []
  const server = await listenHttp(({ url = '', headers: { range = '' } }, response) => {
    const file = FILES[new URL(url, 'http://files').pathname] ?? Buffer.alloc(0)
    const [, start = 0, end = 0] = /^bytes=(\d+)-(\d+)$/.exec(range)?.map(Number) ?? []
    const last = Math.min(end, file.length - 1)
    ranges.push(`${url} ${range}`)
    const headers = { 'content-range': `bytes ${start}-${last}/${file.length}` }
    response.writeHead(206, headers).end(file.subarray(start, last + 1))
  })
  return { origin: server.origin, ranges, close: server.stop }
}
