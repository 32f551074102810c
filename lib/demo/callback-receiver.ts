import { listen } from '#adapters/http-server/http-server.ts'
import { readBody } from '#adapters/http-server/read-body.ts'

/** One callback: the signed body, unchanged, and the headers. */
export type ReceivedCallback = { readonly body: string; readonly headers: Record<string, string> }

/** Larger than any callback. */
const CALLBACK_BYTES_MAX = 65_536

/** Starts a client's server that receives one callback. */
export async function startCallbackReceiver() {
  const { promise: received, resolve } = Promise.withResolvers<ReceivedCallback>()
  const server = await listen((request, response) => {
    readBody(request, CALLBACK_BYTES_MAX)
      .then((body) => {
        const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
        resolve({ body: body.toString('utf8'), headers: Object.fromEntries(headers) })
        response.writeHead(204).end()
      })
      .catch(() => response.destroy())
  }, 0)
  return { origin: `http://127.0.0.1:${server.port}`, received, close: server.close }
}
