import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { RouteNotFoundError } from '#core/errors.ts'
import { FRONT_DOOR_HEADER } from '#core/http.ts'
import { allowedOrigins, errorResult } from '#middleware/responses.ts'
import { closeInStages } from '#platform/http-server/gateway-error.ts'
import { type HttpServer, listen } from '#platform/http-server/http-server.ts'
import { isFrontDoor } from '#platform/secrets.ts'
import { HEALTH_PATH, respondToHealth } from './answer-health.ts'
import { respondToOtherRoute } from './answer-other-route.ts'
import { readTarget } from './received-over-http.ts'
import { relayRouteOf } from './relay-routes.ts'
import { RelayServer } from './relay-server.ts'

/**
 * How long a process may settle its open requests after it was told to stop: Lambda ends a Web Function one second after SIGTERM, and
 * Node needs some of that to end.
 */
const SETTLING_MILLISECONDS_MAX = 500

/** A relay server that listens. */
export type RunningRelayServer = {
  readonly port: number
  /** Takes no more requests, settles the open ones, and closes every connection. */
  stop(): Promise<void>
}

type ListenOptions = {
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  /** The secret of the front door; undefined where everybody may reach the server. */
  readonly frontDoorSecretArn: string | undefined
}

/**
 * Serves the relayed routes on a port. Where it has the secret of a front door, requests without that secret find nothing.
 * A refused body is read and thrown away after the refusal was sent.
 * @throws if the port is in use.
 */
export async function startRelayServer(options: ListenOptions): Promise<RunningRelayServer> {
  const relay = new RelayServer()
  const allowed = allowedOrigins()
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const target = readTarget(request.url)
    if (!(await mayEnter(request, options))) {
      // Responds 404, so that strangers learn nothing.
      sendFailure(response, new RouteNotFoundError(), target.path)
      return
    }
    if (request.method === 'GET' && target.path === HEALTH_PATH) {
      closeInStages(response)
      respondToHealth(response)
      return
    }
    const route = relayRouteOf(request.method, target.path)
    if (route === undefined) {
      closeInStages(response)
      respondToOtherRoute(response, { request, path: target.path, requestId: randomUUID(), allowed })
      return
    }
    await relay.serve(route, target, { request, response })
  }
  const server: HttpServer = await listen((request, response) => {
    serve(request, response).catch((error: unknown) => {
      sendFailure(response, error, readTarget(request.url).path)
    })
  }, options)
  const stop = async () => {
    const closed = server.close()
    await relay.end(SETTLING_MILLISECONDS_MAX)
    server.closeAllConnections()
    await closed
  }
  return { port: server.port, stop }
}

/** @throws MissingSecretError, ServiceUnavailableError, AwsServiceError when the secret cannot be read: nobody is let in then. */
async function mayEnter(
  { headersDistinct }: IncomingMessage,
  { frontDoorSecretArn }: Pick<ListenOptions, 'frontDoorSecretArn'>,
): Promise<boolean> {
  return (
    frontDoorSecretArn === undefined ||
    (await isFrontDoor(frontDoorSecretArn, headersDistinct[FRONT_DOOR_HEADER]?.at(-1)))
  )
}

function sendFailure(response: ServerResponse, error: unknown, path: string): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  closeInStages(response)
  const { statusCode, headers, body } = errorResult(error, { path, requestId: undefined })
  response.writeHead(statusCode, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
}
