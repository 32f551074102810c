import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { timeOrderedId } from '#core/ids.ts'
import { bodyOwner } from '#middleware/body-owner.ts'
import { allowedOrigins } from '#middleware/responses.ts'
import { closeInStages, SHUTTING_DOWN, sendGatewayError } from '#platform/http-server/gateway-error.ts'
import { InFlight, RunningWork } from '#platform/http-server/in-flight.ts'
import { BodiesBeingRead, REQUEST_BYTES_MAX, readBody, refusalOf } from '#platform/http-server/request-bodies.ts'
import { type HeldResponse, UnreadResponses } from '#platform/http-server/unread-responses.ts'
import { ResponseHeaders } from '../relay/client-response.ts'
import { boundSilence } from '../relay/front-door-limit.ts'
import { RelayExchange } from '../relay/relay-exchange.ts'
import { REQUEST_MILLISECONDS_MAX } from '../relay/run-request.ts'
import { serveRelay } from '../relay/serve-relay.ts'
import { HttpResponse } from './http-response.ts'
import { type RequestTarget, receivedOverHttp } from './received-over-http.ts'
import type { RelayRoute } from './relay-routes.ts'

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

  /** Reads a request, and responds. Resolves after the settlement and the last byte; never rejects. */
  async serve(route: RelayRoute, target: RequestTarget, pair: HttpPair): Promise<void> {
    await this.#running.track(this.#serve(route, target, pair))
  }

  /**
   * Takes no more requests, ends the open ones, and settles them by what was delivered: all at once, so that the ledger writes them in
   * groups. Resolves when every request is settled, or after the given time; Reconcile gives back what is open then.
   */
  async end(millisecondsMax: number): Promise<void> {
    this.#isEnding = true
    for (const { value: answer } of this.#open) {
      answer.endNow()
    }
    await this.settled(millisecondsMax)
  }

  /** Resolves when every request is settled, or after the given time. */
  async settled(millisecondsMax: number): Promise<void> {
    await this.#running.settled(millisecondsMax)
  }

  async #serve(
    { operation, relay, takesBody }: RelayRoute,
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
    const answer = new HttpResponse(response, { requestId, headers, hold })
    const exchange = new RelayExchange({ operation, request: received, requestId, headers, response: answer })
    const place = this.#open.add(answer)
    const timeUp = setTimeout(() => answer.giveUp(), endsAt - performance.now())
    const endBound = boundSilence(exchange, answer)
    await serveRelay(exchange, { relay, takesBody, allowedOrigins: this.#allowedOrigins })
    endBound()
    await answer.finished()
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
    return this.#unread.hold(request.headers.authorization ?? '', bytes, () => response.destroy())
  }
}

/** A request of Node's HTTP server, and its response. */
type HttpPair = { readonly request: IncomingMessage; readonly response: ServerResponse }
