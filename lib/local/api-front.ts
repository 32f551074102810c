import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { toGatewayEvent } from './api-gateway-event.ts'
import { type RoutedRequest, routeRequest } from './api-routes.ts'
import { BAD_ANSWER, INTERNAL_ERROR, REQUEST_TOO_LARGE, sendGatewayError } from './gateway-error.ts'
import { invokeFunction, invokeStreamingFunction, type LocalFunction } from './lambda-runtime.ts'
import { BodyTooLargeError, readBody } from './read-body.ts'
import { ResponseStream } from './response-stream.ts'
import { RunningInvocations } from './running-invocations.ts'
import { StreamedResponse } from './streamed-response.ts'

/** API Gateway's own limit. */
const REQUEST_BYTES_MAX = 10 * 1024 * 1024

/** A request on its way; the id is API Gateway's, the same in the event, in the logs and on the answer. */
type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse; readonly requestId: string }

/** Finds the function of a request. */
type RouteTable = (method: string, path: string) => RoutedRequest

/** API Gateway in front of the functions of one host. */
export class ApiFront {
  readonly #route: RouteTable
  readonly #running = new RunningInvocations()

  constructor(route: RouteTable = routeRequest) {
    this.#route = route
  }

  /** Answers one request, and resolves when its function has ended; never rejects. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const exchange = { request, response, requestId: randomUUID() }
    const { requestId } = exchange
    try {
      const url = new URL(`http://local${request.url ?? '/'}`)
      const body = await readBody(request, REQUEST_BYTES_MAX)
      const routed = this.#route(request.method ?? 'GET', url.pathname)
      const event = toGatewayEvent({ ...routed, request, requestId, url, body })
      const answer = routed.streams ? answerAsItComes : answerWhole
      await this.#running.track(answer(exchange, routed.target, event))
    } catch (error) {
      const isTooLarge = error instanceof BodyTooLargeError
      sendGatewayError(response, requestId, isTooLarge ? REQUEST_TOO_LARGE : INTERNAL_ERROR)
    }
  }

  /** Resolves when no function runs any more, or after the given time: one may go on behind its answer. */
  async invocationsEnded(millisecondsMax: number): Promise<void> {
    await this.#running.settled(millisecondsMax)
  }
}

async function answerWhole(exchange: Exchange, target: LocalFunction, event: unknown): Promise<void> {
  const { response, requestId } = exchange
  const result = await invokeFunction(target, event)
  if (!isProxyResult(result)) {
    sendGatewayError(response, requestId, BAD_ANSWER)
    return
  }
  const body = Buffer.from(result.body, result.isBase64Encoded ? 'base64' : 'utf8')
  response.writeHead(result.statusCode, { ...result.headers, 'content-length': body.length }).end(body)
}

function isProxyResult(result: unknown): result is APIGatewayProxyResult {
  return typeof result === 'object' && result !== null && 'statusCode' in result && 'body' in result
}

/** The function goes on when the client leaves, and hears of it by its stream's `close`. */
async function answerAsItComes(exchange: Exchange, target: LocalFunction, event: unknown): Promise<void> {
  const { response, requestId } = exchange
  const answer = new StreamedResponse(response, requestId)
  const stream = new ResponseStream(answer)
  response.once('close', () => stream.abandon())
  try {
    await invokeStreamingFunction(target, event, stream)
  } catch {
    answer.fail()
    stream.abandon()
  }
}
