import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { OPENAI_ERRORS } from '#core/api/error-form.ts'
import { allowedModelView, modelListFor } from '#core/api/model-view.ts'
import { matchPath } from '#core/api/paths.ts'
import { timeOrderedId } from '#core/ids.ts'
import { bodyOwner } from '#middleware/body-owner.ts'
import { allowedOrigins } from '#middleware/responses.ts'
import { once } from '#platform/cache.ts'
import { closeInStages, SHUTTING_DOWN, sendGatewayError } from '#platform/http-server/gateway-error.ts'
import { InFlight, RunningWork } from '#platform/http-server/in-flight.ts'
import { BodiesBeingRead, REQUEST_BYTES_MAX, readBody, refusalOf } from '#platform/http-server/request-bodies.ts'
import { type HeldResponse, UnreadResponses } from '#platform/http-server/unread-responses.ts'
import { ROUTES } from '#routes/index.ts'
import type { RELAYED_ROUTES } from '#routes/relayed.ts'
import { ResponseHeaders } from '../relay/client-response.ts'
import { boundSilence, RelayExchange } from '../relay/relay-exchange.ts'
import { REQUEST_MILLISECONDS_MAX } from '../relay/run-request.ts'
import { sendJson } from '../relay/send-response.ts'
import { type Relay, type RelayRoute, serveRelay } from '../relay/serve-relay.ts'
import { HttpResponse, type RequestTarget, receivedOverHttp } from './http-response.ts'

type Options = {
  /** What the requests of a process share. */
  readonly bodies?: BodiesBeingRead
  readonly unread?: UnreadResponses
}

/** Serves the relayed routes of one process over HTTP. Nothing of one request is visible to another. */
export class RelayServer {
  readonly #allowedOrigins = allowedOrigins()
  readonly #running = new RunningWork()
  readonly #open = new InFlight<HttpResponse>()
  #isEnding = false
  readonly #bodies: BodiesBeingRead
  readonly #unread: UnreadResponses

  constructor({ bodies = new BodiesBeingRead(), unread = new UnreadResponses() }: Options = {}) {
    this.#bodies = bodies
    this.#unread = unread
  }

  /** Reads a request, and responds. Resolves after the settlement and the last byte; rejects only for a route that cannot be loaded. */
  async serve(route: LoadedLate, target: RequestTarget, pair: HttpPair): Promise<void> {
    await this.#running.track(this.#serve(await route.load(), target, pair))
  }

  /**
   * Takes no more requests, ends the open ones, and settles them by what was delivered: all at once, so that the ledger writes them in
   * groups. Resolves when every request is settled, or after the given time; Reconcile gives back what is open then.
   */
  async end(millisecondsMax: number): Promise<void> {
    this.#isEnding = true
    for (const { value: outgoing } of this.#open) {
      outgoing.endNow()
    }
    await this.settled(millisecondsMax)
  }

  /** Resolves when every request is settled, or after the given time. */
  async settled(millisecondsMax: number): Promise<void> {
    await this.#running.settled(millisecondsMax)
  }

  async #serve(
    { operation, errors, relay, takesBody, query }: RelayRoute,
    target: RequestTarget,
    { request, response }: HttpPair,
  ): Promise<void> {
    const requestId = timeOrderedId(randomUUID(), Date.now())
    // A body that comes slowly is a part of what the platform counts.
    const endsAt = performance.now() + REQUEST_MILLISECONDS_MAX
    let body: Buffer
    try {
      body = await this.#read(request, response)
    } catch (error) {
      sendGatewayError(response, requestId, refusalOf(error))
      return
    }
    if (this.#isEnding) {
      sendGatewayError(response, requestId, SHUTTING_DOWN)
      return
    }
    const headers = new ResponseHeaders(requestId)
    const received = receivedOverHttp(request, target, body)
    const hold = (bytes: number) => this.#hold({ request, response }, bytes)
    const outgoing = new HttpResponse(response, { requestId, headers, hold })
    const exchange = new RelayExchange({ operation, errors, request: received, requestId, headers, response: outgoing })
    const place = this.#open.add(outgoing)
    const timeUp = setTimeout(() => outgoing.giveUp(), endsAt - performance.now())
    const endBound = boundSilence(exchange, outgoing)
    await serveRelay(exchange, { relay, takesBody, query, allowedOrigins: this.#allowedOrigins })
    endBound()
    await outgoing.finished()
    clearTimeout(timeUp)
    this.#open.remove(place)
  }

  /** Nothing of a request without a valid key, which is refused for the key alone. */
  async #read(request: IncomingMessage, response: ServerResponse): Promise<Buffer> {
    const owner = await bodyOwner(request, true)
    if (owner === undefined) {
      closeInStages(response)
      return Buffer.alloc(0)
    }
    return await readBody(request, REQUEST_BYTES_MAX, { bodies: this.#bodies, owner })
  }

  #hold({ request, response }: HttpPair, bytes: number): HeldResponse {
    return this.#unread.hold(request.headers.authorization ?? String(request.headers['x-api-key'] ?? ''), bytes, () =>
      response.destroy(),
    )
  }
}

/** A request of Node's HTTP server, and its response. */
type HttpPair = { readonly request: IncomingMessage; readonly response: ServerResponse }

/** GET /v1/models */
export const listModels: Relay = async (exchange, { catalogue }) => {
  await exchange.confirmCaller()
  await send(exchange, modelListFor(exchange.request.headerLines, catalogue, exchange.caller.models))
}

/** GET /v1/models/{model} */
export const getModel: Relay = async (exchange, { catalogue }) => {
  await exchange.confirmCaller()
  const { path, headerLines } = exchange.request
  const id = matchPath('/v1/models/{model}', path)?.model ?? ''
  await send(exchange, allowedModelView({ id, headerLines }, catalogue, exchange.caller.models))
}

async function send({ response }: RelayExchange, body: object): Promise<void> {
  await sendJson(response, { statusCode: 200, pieces: [Buffer.from(JSON.stringify(body))] })
}

type Load = () => Promise<RelayRoute>

/** A process loads a protocol for its first request, so that it starts as fast as one that knows a single protocol. */
const RELAYED: Readonly<Record<(typeof RELAYED_ROUTES)[number]['operation'], Load>> = {
  'create-chat-completion': async () => (await import('../relay/protocols/chat.ts')).chat,
  'create-response': async () => (await import('../relay/protocols/responses.ts')).responses,
  'create-message': async () => (await import('../relay/protocols/messages.ts')).messages,
  'count-message-tokens': async () => (await import('../relay/protocols/count-message-tokens.ts')).countMessageTokens,
  'create-completion': async () => (await import('../relay/protocols/completion.ts')).completion,
  'create-embedding': async () => (await import('../relay/protocols/embedding.ts')).embedding,
  'create-image': async () => (await import('../relay/protocols/image.ts')).image,
}

const OPERATIONS: ReadonlyMap<string, Load> = new Map<string, Load>([
  ...Object.entries(RELAYED),
  ...Object.entries({ 'list-models': listModels, 'get-model': getModel }).map(([operation, relay]): [string, Load] => [
    operation,
    async () => ({ operation, errors: OPENAI_ERRORS, relay, takesBody: false }),
  ]),
])

/** A route whose code is loaded at its first request. */
export type LoadedLate = { readonly operation: string; readonly load: Load }

const SERVED = ROUTES.flatMap(({ operation, method, path }) => {
  const load = OPERATIONS.get(operation)
  return load === undefined ? [] : [{ method, path, served: { operation, load: once(load) } }]
})

/** Loads every protocol, for a process in which no first request should pay for one. */
export async function loadProtocols(): Promise<void> {
  await Promise.all(SERVED.map(({ served }) => served.load()))
}

/** Routes without path parameters, by method and path. */
const FIXED: ReadonlyMap<string, LoadedLate> = new Map(
  SERVED.filter(({ path }) => !path.includes('{')).map(({ method, path, served }) => [`${method} ${path}`, served]),
)

const VARIABLE = SERVED.filter(({ path }) => path.includes('{'))

/** The operation of a request; undefined for a path or a method that the relay server does not serve. */
export function relayRouteOf(method: string | undefined, path: string): LoadedLate | undefined {
  return (
    FIXED.get(`${method} ${path}`) ??
    VARIABLE.find((each) => each.method === method && matchPath(each.path, path) !== undefined)?.served
  )
}
