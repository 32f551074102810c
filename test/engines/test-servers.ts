import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { type Loopback, listenHttp } from '../platform/http/loopback.ts'

/** A playable clip of three seconds. */
export const CLIP = readFileSync(new URL('../../lib/simulators/clips/16x9-03s.mp4', import.meta.url))

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Serves results as an upstream's storage would: `/video.mp4` is the clip, anything else what `routes` says, or 404. */
export async function startResultServer(
  routes: Readonly<Record<string, Handler>> = {},
): Promise<Loopback & { url(path: string): string }> {
  const clip: Handler = (_request, response) => response.writeHead(200, { 'content-type': 'video/mp4' }).end(CLIP)
  const known: Readonly<Record<string, Handler>> = { '/video.mp4': clip, ...routes }
  const server = await listenHttp((request, response) => {
    const handler = known[request.url ?? '']
    if (handler === undefined) {
      response.writeHead(404).end()
    } else {
      handler(request, response)
    }
  })
  return { ...server, url: (path) => server.origin + path }
}

type ReceivedCallback = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A client's callback endpoint that keeps what it gets and answers with a status. */
export async function startCallbackReceiver(status: () => number | Promise<number> = () => 200) {
  const received: ReceivedCallback[] = []
  const server = await listenHttp(async (request, response) => {
    const chunks = await request.toArray()
    const body = Buffer.concat(chunks).toString('utf8')
    received.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body })
    response.writeHead(await status()).end()
  })
  return {
    received,
    origin: server.origin,
    url: `${server.origin}/hook`,
    sockets: server.sockets,
    stop: () => server.stop(),
  }
}
