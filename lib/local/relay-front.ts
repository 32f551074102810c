import type { IncomingMessage, ServerResponse } from 'node:http'
import { once } from '#platform/cache.ts'

type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** The relay server in front of the other routes of the host. */
export class RelayFront {
  readonly #serveOthers: Serve
  /** The server reads the environment of the started host when it is loaded. */
  readonly #load = once(async () => {
    const [{ RelayServer, relayRouteOf, loadProtocols }, { readTarget }] = await Promise.all([
      import('#lambdas/relay-server/relay-server.ts'),
      import('#lambdas/relay-server/http-response.ts'),
    ])
    await loadProtocols()
    return { server: new RelayServer(), relayRouteOf, readTarget }
  })

  /** @param serveOthers responds to requests to other routes. */
  constructor(serveOthers: Serve) {
    this.#serveOthers = serveOthers
  }

  /** Loads the server, so that no first request pays for it. */
  async load(): Promise<void> {
    await this.#load()
  }

  /** Responds to one request, and resolves when it is settled; never rejects. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { server, relayRouteOf, readTarget } = await this.#load()
    const target = readTarget(request.url)
    const route = relayRouteOf(request.method, target.path)
    await (route === undefined
      ? this.#serveOthers(request, response)
      : server.serve(route, target, { request, response }))
  }

  /** Resolves when every relayed request is settled, or after the given time. */
  async settled(millisecondsMax: number): Promise<void> {
    await (await this.#load()).server.settled(millisecondsMax)
  }
}
