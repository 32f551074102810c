import type { IncomingHttpHeaders } from 'node:http'
import { listenHttp } from '../adapters/outbound/loopback.ts'

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
