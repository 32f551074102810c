import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AllowedOrigins, crossOriginHeaders, preflightOf } from '#core/api/cross-origin.ts'
import { RouteNotFoundError } from '#core/errors.ts'
import { bareHostname, FRONT_DOOR_HEADER } from '#core/http.ts'
import { VERSION } from '#core/version.ts'
import { allowedOrigins, errorResult } from '#middleware/responses.ts'
import { closeInStages } from '#platform/http-server/gateway-error.ts'
import { type HttpServer, listen } from '#platform/http-server/http-server.ts'
import { isFrontDoor } from '#platform/secrets.ts'
import { allowedMethods, SERVED } from '#routes/index.ts'
import { readTarget } from './http-response.ts'
import { RelayServer, relayRouteOf } from './relay-server.ts'

/** Tells that the process serves. The front door sends this path to the API, so only who waits for the process asks for it. */
export const HEALTH_PATH = '/health'

/** Says that the process serves, and its version. */
export function respondToHealth(response: ServerResponse): void {
  const body = JSON.stringify({ status: 'ok', version: VERSION })
  response
    .writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
    })
    .end(body)
}

/** A request of no operation, and what its response needs. */
export type OtherRoute = {
  readonly request: Pick<IncomingMessage, 'method' | 'headers'>
  readonly path: string
  readonly requestId: string
  readonly allowed: AllowedOrigins
}

/** Responds to a path or a method that the relay server does not serve, as the fallback function does. */
export function respondToOtherRoute(response: ServerResponse, { request, path, requestId, allowed }: OtherRoute): void {
  const { origin, 'access-control-request-headers': requestHeaders } = request.headers
  const added = {
    ...(allowed.length > 0 ? crossOriginHeaders(origin, { allowed }) : {}),
    'x-request-id': requestId,
  }
  try {
    const preflight = preflightOf(
      { method: request.method ?? '', path, methods: allowedMethods(path), routes: SERVED, origin, requestHeaders },
      allowed,
    )
    response.writeHead(204, { ...preflight, ...added }).end()
  } catch (error) {
    const { statusCode, headers, body } = errorResult(error, { path, requestId })
    const length = { 'content-length': Buffer.byteLength(body) }
    response.writeHead(statusCode, { ...headers, ...added, ...length }).end(body)
  }
}

/**
 * How long a process may settle its open requests after it was told to stop: Lambda ends a Web Function one second after SIGTERM, and
 * Node needs some of that to end.
 */
export const SETTLING_MILLISECONDS_MAX = 500

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

/** Where the relay server listens. */
export type ListenAddress = {
  /** A name or an address, of IPv6 without brackets. */
  readonly host: string
  readonly port: number
  /** Whether its own machine alone can reach it. Only an address says so: what a name stands for may change. */
  readonly isLoopback: boolean
}

const LOOPBACK = /^(?:127(?:\.\d+){3}|::1)$/

const DEFAULT_PORT = 80

/**
 * Reads an endpoint such as `0.0.0.0:3000` or `[::1]:3000`.
 * @throws TypeError for anything that no URL could name.
 */
export function listenAddress(endpoint: string): ListenAddress {
  const url = new URL(`http://${endpoint}`)
  const host = bareHostname(url)
  return { host, port: Number(url.port || DEFAULT_PORT), isLoopback: LOOPBACK.test(host) }
}
