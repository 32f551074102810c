import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import { type AdminFunction, routeAdminRequest } from '#core/admin/routes.ts'
import { NO_IDENTITY } from '#core/api/api-gateway.ts'
import { matchPath } from '#core/api/paths.ts'
import { once } from '#platform/cache.ts'
import { BAD_RESPONSE, closeInStages, sendGatewayError } from '#platform/http-server/gateway-error.ts'
import { RunningWork } from '#platform/http-server/in-flight.ts'
import { BodiesBeingRead, REQUEST_BYTES_MAX, readBody, refusalOf } from '#platform/http-server/request-bodies.ts'
import {
  type HeldResponse,
  UnreadResponses,
  whenClosed,
  writeInSlices,
} from '#platform/http-server/unread-responses.ts'
import { methodsOf, type Route } from '#routes/define-route.ts'
import { ROUTES } from '#routes/index.ts'
import { FUNCTION_TIMEOUT_SECONDS } from '../config/platform-facts.ts'
import { ResponseStream } from './awslambda.ts'
import { invokeFunction, invokeStreamingFunction, type LocalFunction } from './lambda-runtime.ts'
import { StreamedResponse } from './streamed-response.ts'

/** One HTTP request as API Gateway (REST, Lambda proxy) would pass it on. */
export type GatewayRequest = {
  readonly request: IncomingMessage
  readonly requestId: string
  readonly url: URL
  /** The path template, such as `/v1/video/generations/{job_id}`. */
  readonly resource: string
  readonly pathParameters: Record<string, string> | null
  readonly body: Buffer
}

/** Uses plain loops, because every request needs the event first. */
export function toGatewayEvent(gatewayRequest: GatewayRequest): APIGatewayProxyEvent {
  const { request, url, resource, pathParameters, body } = gatewayRequest
  const headers = new ValuesByName()
  const { rawHeaders } = request
  for (let index = 1; index < rawHeaders.length; index += 2) {
    headers.add(rawHeaders[index - 1] ?? '', rawHeaders[index] ?? '')
  }
  const query = url.search === '' ? undefined : readQuery(url.searchParams)
  // Invalid UTF-8 is passed as base64, so that the handler can refuse it.
  const isBase64Encoded = !isUtf8(body)
  return {
    resource,
    path: url.pathname,
    httpMethod: request.method ?? 'GET',
    headers: headers.last,
    multiValueHeaders: headers.all,
    queryStringParameters: query?.last ?? null,
    multiValueQueryStringParameters: query?.all ?? null,
    pathParameters,
    stageVariables: null,
    body: body.length === 0 ? null : body.toString(isBase64Encoded ? 'base64' : 'utf8'),
    isBase64Encoded,
    requestContext: requestContext(gatewayRequest),
  }
}

function requestContext({ request, requestId, url, resource }: GatewayRequest): APIGatewayProxyEvent['requestContext'] {
  return {
    accountId: '000000000000',
    apiId: 'local',
    authorizer: null,
    protocol: `HTTP/${request.httpVersion}`,
    httpMethod: request.method ?? 'GET',
    identity: {
      ...NO_IDENTITY,
      sourceIp: request.socket.remoteAddress ?? '',
      userAgent: request.headers['user-agent'] ?? null,
    },
    path: url.pathname,
    stage: 'local',
    requestId,
    requestTimeEpoch: Date.now(),
    resourceId: 'local',
    resourcePath: resource,
  }
}

/** Values in both of API Gateway's forms. Without a prototype, because a client may send a name such as `__proto__`. */
class ValuesByName {
  readonly last: Record<string, string> = Object.create(null)
  readonly all: Record<string, string[]> = Object.create(null)

  add(name: string, value: string): void {
    const values = this.all[name]
    if (values === undefined) {
      this.all[name] = [value]
    } else {
      values.push(value)
    }
    this.last[name] = value
  }
}

/** Undefined if the query is empty, as after a single question mark. */
function readQuery(parameters: URLSearchParams): ValuesByName | undefined {
  const query = new ValuesByName()
  for (const [name, value] of parameters) {
    query.add(name, value)
  }
  return parameters.size === 0 ? undefined : query
}

/** One method of one resource in API Gateway. */
type Endpoint = {
  /** The path template. */
  readonly resource: string
  readonly target: LocalFunction
  readonly streams: boolean
  /** Whether a request without a valid key is refused, whatever its body. */
  readonly takesKey?: boolean
}

/** The endpoint of a request, with the parameters of its path. */
export type RoutedRequest = Endpoint & { readonly pathParameters: Record<string, string> | null }

const ENDPOINTS = ROUTES.flatMap((route) => {
  const endpoint = endpointOf(route)
  return methodsOf(route).map((method) => ({ method, endpoint }))
})

/** Endpoints without path parameters, by method and path. */
const FIXED: ReadonlyMap<string, RoutedRequest> = new Map(
  ENDPOINTS.filter(({ endpoint }) => !endpoint.resource.includes('{')).map(({ method, endpoint }) => [
    `${method} ${endpoint.resource}`,
    { ...endpoint, pathParameters: null },
  ]),
)

const VARIABLE = ENDPOINTS.filter(({ endpoint }) => endpoint.resource.includes('{'))

const FALLBACK: Endpoint = {
  resource: '/{proxy+}',
  target: {
    name: 'fallback',
    timeoutSeconds: FUNCTION_TIMEOUT_SECONDS.api,
    load: once(() => import('#lambdas/api/public/handler.ts')),
  },
  streams: false,
}

const ADMIN_PREFIX = '/admin/v1/'

const ADMIN: Readonly<Record<AdminFunction, Endpoint>> = {
  'sign-in': adminEndpoint('sign-in'),
  read: adminEndpoint('read'),
  write: adminEndpoint('write'),
}

function adminEndpoint(name: AdminFunction): Endpoint {
  const target = {
    name: `admin-${name}`,
    timeoutSeconds: FUNCTION_TIMEOUT_SECONDS.api,
    load: once(() => import(`#lambdas/admin-api/${name}/handler.ts`)),
  }
  return { resource: `${ADMIN_PREFIX}{proxy+}`, target, streams: false }
}

function endpointOf({ operation, path, auth, function: folder, ...route }: Route): Endpoint {
  const streams = route.streams === true
  const target = {
    name: operation,
    timeoutSeconds: FUNCTION_TIMEOUT_SECONDS[streams ? 'relay' : 'api'],
    load: once(() => import(`#lambdas/api/${folder}/handler.ts`)),
  }
  return { resource: path, target, streams, takesKey: auth === 'key' }
}

/** Finds the function of a route as API Gateway would, or the fallback for unknown paths and methods. */
export function routeRequest(method: string, path: string): RoutedRequest {
  const fixed = FIXED.get(`${method} ${path}`)
  if (fixed !== undefined) {
    return fixed
  }
  if (path.startsWith(ADMIN_PREFIX)) {
    return routeToAdmin(method, path)
  }
  for (const each of VARIABLE) {
    const pathParameters = each.method === method ? matchPath(each.endpoint.resource, path) : undefined
    if (pathParameters !== undefined) {
      return { ...each.endpoint, pathParameters }
    }
  }
  return { ...FALLBACK, pathParameters: { proxy: path.slice(1) } }
}

/** Paths and methods without an operation go where their method goes: GET to `read`, all others to `write`. */
function routeToAdmin(method: string, path: string): RoutedRequest {
  const name = routeAdminRequest(method, path)?.route.function ?? (method === 'GET' ? 'read' : 'write')
  return { ...ADMIN[name], pathParameters: { proxy: path.slice(ADMIN_PREFIX.length) } }
}

/** Loads every handler of the API, so that no first request pays for it. */
export async function loadApiHandlers(): Promise<void> {
  const endpoints = [...ENDPOINTS.map(({ endpoint }) => endpoint), ...Object.values(ADMIN), FALLBACK]
  await Promise.all(endpoints.map(({ target }) => target.load()))
}

/** Smaller responses are not counted, because a connection has only one at a time. */
const SMALL_RESPONSE_BYTES = 16 * 1024

/** It reads the environment of the started host when it is loaded. */
const loadBodyOwner = once(() => import('#middleware/body-owner.ts'))

/** A request under way. The id is API Gateway's: the same in the event, in the logs and on the response. */
type Exchange = {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  /** Counts the bytes of a response until its client has received it, or has left. */
  readonly hold: (bytes: number) => HeldResponse
}

/** State that the requests of one process share. */
type Shared = { readonly bodies?: BodiesBeingRead; readonly unread?: UnreadResponses }

/** Finds the function of a request. */
type RouteTable = (method: string, path: string) => RoutedRequest

/** API Gateway in front of the functions of one host. */
export class ApiFront {
  readonly #route: RouteTable
  readonly #running = new RunningWork()
  readonly #bodies: BodiesBeingRead
  readonly #unread: UnreadResponses

  constructor(
    route: RouteTable = routeRequest,
    { bodies = new BodiesBeingRead(), unread = new UnreadResponses() }: Shared = {},
  ) {
    this.#route = route
    this.#bodies = bodies
    this.#unread = unread
  }

  /** Responds to one request, and resolves when its function has ended; never rejects. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = randomUUID()
    const hold = (bytes: number) => this.#hold({ request, response }, bytes)
    const exchange = { request, response, requestId, hold }
    try {
      const url = new URL(`http://local${request.url ?? '/'}`)
      const routed = this.#route(request.method ?? 'GET', url.pathname)
      const body = await this.#read(request, response, routed)
      const event = toGatewayEvent({ ...routed, request, requestId, url, body })
      const respond = routed.streams ? respondAsItComes : respondWhole
      await this.#running.track(respond(exchange, routed.target, event))
    } catch (error) {
      sendGatewayError(response, requestId, refusalOf(error))
    }
  }

  /** Nothing of a request without a valid key, which its function refuses for the key alone. */
  async #read(
    request: IncomingMessage,
    response: ServerResponse,
    { takesKey = false }: RoutedRequest,
  ): Promise<Buffer> {
    const { bodyOwner } = await loadBodyOwner()
    const owner = await bodyOwner(request, takesKey)
    if (owner === undefined) {
      closeInStages(response)
      return Buffer.alloc(0)
    }
    return await readBody(request, REQUEST_BYTES_MAX, { bodies: this.#bodies, owner })
  }

  #hold({ request, response }: Pick<Exchange, 'request' | 'response'>, bytes: number): HeldResponse {
    const held = this.#unread.hold(request.headers.authorization ?? '', bytes, () => response.destroy())
    whenClosed(response, held.release)
    return held
  }

  /** Resolves when no function runs any more, or after the given time: a function may go on after its response. */
  async invocationsEnded(millisecondsMax: number): Promise<void> {
    await this.#running.settled(millisecondsMax)
  }
}

async function respondWhole(exchange: Exchange, target: LocalFunction, event: unknown): Promise<void> {
  const { response, requestId, hold } = exchange
  const result = await invokeFunction(target, event)
  if (!isProxyResult(result)) {
    sendGatewayError(response, requestId, BAD_RESPONSE)
    return
  }
  const body = Buffer.from(result.body, result.isBase64Encoded ? 'base64' : 'utf8')
  // A 204 has no length (RFC 9110, 8.6).
  const length = result.statusCode === 204 ? {} : { 'content-length': body.length }
  response.writeHead(result.statusCode, { ...result.headers, ...result.multiValueHeaders, ...length })
  if (body.length <= SMALL_RESPONSE_BYTES) {
    response.end(body)
    return
  }
  const held = hold(body.length)
  writeInSlices(response, body, { onTaken: held.taken, onDone: () => response.end() })
}

function isProxyResult(result: unknown): result is APIGatewayProxyResult {
  return typeof result === 'object' && result !== null && 'statusCode' in result && 'body' in result
}

/** When the client leaves, the function goes on, and its stream emits `close`. */
async function respondAsItComes(exchange: Exchange, target: LocalFunction, event: unknown): Promise<void> {
  const { response, requestId, hold } = exchange
  const streamed = new StreamedResponse(response, { requestId, hold })
  const stream = new ResponseStream(streamed)
  whenClosed(response, () => stream.abandon())
  try {
    await invokeStreamingFunction(target, event, stream)
  } catch {
    streamed.fail()
    stream.abandon()
  }
}
