import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { BodiesBeingRead } from '#adapters/http-server/bodies-being-read.ts'
import { closeInStages } from '#adapters/http-server/close-in-stages.ts'
import { BAD_ANSWER, sendGatewayError } from '#adapters/http-server/gateway-error.ts'
import { REQUEST_BYTES_MAX, readBody, refusalOf } from '#adapters/http-server/read-body.ts'
import { RunningWork } from '#adapters/http-server/running-work.ts'
import { type HeldResponse, UnreadResponses } from '#adapters/http-server/unread-responses.ts'
import { whenClosed } from '#adapters/http-server/when-closed.ts'
import { writeInSlices } from '#adapters/http-server/write-in-slices.ts'
import { once } from '#adapters/once.ts'
import { toGatewayEvent } from './api-gateway-event.ts'
import { type RoutedRequest, routeRequest } from './api-routes.ts'
import { invokeFunction, invokeStreamingFunction, type LocalFunction } from './lambda-runtime.ts'
import { ResponseStream } from './response-stream.ts'
import { StreamedResponse } from './streamed-response.ts'

/** Smaller responses are not counted, because a connection has only one at a time. */
const SMALL_ANSWER_BYTES = 16 * 1024

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
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = randomUUID()
    const hold = (bytes: number) => this.#hold({ request, response }, bytes)
    const exchange = { request, response, requestId, hold }
    try {
      const url = new URL(`http://local${request.url ?? '/'}`)
      const routed = this.#route(request.method ?? 'GET', url.pathname)
      const body = await this.#read(request, response, routed)
      const event = toGatewayEvent({ ...routed, request, requestId, url, body })
      const answer = routed.streams ? answerAsItComes : answerWhole
      await this.#running.track(answer(exchange, routed.target, event))
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

async function answerWhole(exchange: Exchange, target: LocalFunction, event: unknown): Promise<void> {
  const { response, requestId, hold } = exchange
  const result = await invokeFunction(target, event)
  if (!isProxyResult(result)) {
    sendGatewayError(response, requestId, BAD_ANSWER)
    return
  }
  const body = Buffer.from(result.body, result.isBase64Encoded ? 'base64' : 'utf8')
  // A 204 has no length (RFC 9110, 8.6).
  const length = result.statusCode === 204 ? {} : { 'content-length': body.length }
  response.writeHead(result.statusCode, { ...result.headers, ...result.multiValueHeaders, ...length })
  if (body.length <= SMALL_ANSWER_BYTES) {
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
async function answerAsItComes(exchange: Exchange, target: LocalFunction, event: unknown): Promise<void> {
  const { response, requestId, hold } = exchange
  const answer = new StreamedResponse(response, { requestId, hold })
  const stream = new ResponseStream(answer)
  whenClosed(response, () => stream.abandon())
  try {
    await invokeStreamingFunction(target, event, stream)
  } catch {
    answer.fail()
    stream.abandon()
  }
}
