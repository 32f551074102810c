import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Loopback, listenHttp } from '../adapters/outbound/loopback.ts'

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
