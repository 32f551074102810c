import { type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { type HttpServer, listen } from '#adapters/http-server/http-server.ts'
import { isRelayed, ROUTES } from '#core/api/routes.ts'
import { FRONT_DOOR_HEADER } from '#core/http.ts'

type Origins = {
  /** Serves the paths of the relay server. */
  readonly relay: string
  /** Serves all other paths. */
  readonly others: string
  /** Proves the front door to the relay server. */
  readonly secret: string
}

/** A front door that sends each request on. */
export type FrontDoor = HttpServer & {
  readonly url: string
  /** Requests to the relay server so far, such as `POST /v1/chat/completions`. */
  readonly relayed: readonly string[]
}

/** The exact paths of relayed routes, as the distribution has them. */
const RELAYED_PATHS: ReadonlySet<string> = new Set(ROUTES.filter(isRelayed).map(({ path }) => path))

/** Starts what the distribution of a deployment with `relay=web` does: relayed paths go to the relay server, all others to the API. */
export async function startFrontDoor({ relay, others, secret }: Origins): Promise<FrontDoor> {
  const relayed: string[] = []
  const server = await listen((request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    if (RELAYED_PATHS.has(path) || path === '/v1/models' || path.startsWith('/v1/models/')) {
      relayed.push(`${request.method} ${path}`)
      forward(request, response, { origin: relay, headers: { [FRONT_DOOR_HEADER]: secret } })
    } else {
      forward(request, response, { origin: others, headers: {} })
    }
  }, 0)
  return { ...server, url: `http://127.0.0.1:${server.port}`, relayed }
}

type Target = { readonly origin: string; readonly headers: Readonly<Record<string, string>> }

function forward(request: IncomingMessage, response: ServerResponse, { origin, headers }: Target): void {
  const { method, url = '/', headers: received } = request
  const { host: _, connection: __, ...kept } = received
  const sent = openRequest(new URL(url, origin), { method, headers: { ...kept, ...headers } })
  sent.on('error', () => response.destroy())
  sent.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    pipeline(answer, response, () => undefined)
  })
  pipeline(request, sent, () => undefined)
}
