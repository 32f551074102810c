import type { IncomingHttpHeaders } from 'node:http'
import { listen } from '#adapters/http-server/http-server.ts'
import { readBody } from '#adapters/http-server/read-body.ts'

const REQUEST_BYTES_MAX = 100_000

export type Received = {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Takes whatever it is sent and says 200: a client's callback url, CloudFormation's answer url. */
export async function startReceiver(): Promise<{ origin: string; received: Received[]; close(): Promise<void> }> {
  const received: Received[] = []
  const server = await listen(async (request, response) => {
    const text = (await readBody(request, REQUEST_BYTES_MAX)).toString('utf8')
    received.push({ method: request.method, path: request.url, headers: request.headers, text })
    response.end()
  }, 0)
  return { origin: `http://127.0.0.1:${server.port}`, received, close: () => server.close() }
}
