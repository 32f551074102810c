import type { Context } from 'aws-lambda'
import { timeOrderedId } from '#core/ids.ts'
import { type ApiEvent, type ApiResult, receivedRequest } from '#middleware/api-event.ts'
import { allowedOrigins } from '#middleware/responses.ts'
import { type ClientResponse, type ResponseHead, ResponseHeaders } from './client-response.ts'
import { boundSilence, RelayExchange } from './relay-exchange.ts'
import { type RelayRoute, serveRelay } from './serve-relay.ts'
import { type LambdaResponseStream, StreamingResponse, streamifyResponse } from './streaming-response.ts'

/** Lambda does not tell a buffered function that its client has left. */
const NEVER_GONE = new AbortController().signal

/** Collects a response for a platform that takes it in one piece. */
export class BufferedResponse implements ClientResponse {
  readonly gone = NEVER_GONE
  readonly isBuffered = true
  readonly #responseHeaders: ResponseHeaders
  #head: ResponseHead | undefined
  readonly #chunks: Buffer[] = []

  constructor(responseHeaders: ResponseHeaders) {
    this.#responseHeaders = responseHeaders
  }

  get isOpen(): boolean {
    return this.#head !== undefined
  }

  get statusCode(): number | undefined {
    return this.#head?.statusCode
  }

  open({ statusCode, headers }: ResponseHead): void {
    this.#head = { statusCode, headers: this.#responseHeaders.complete(headers) }
  }

  write(chunk: Buffer | string): boolean {
    this.#chunks.push(Buffer.from(chunk))
    return true
  }

  async drained(): Promise<void> {
    // There is always room.
  }

  end(): void {
    // The response goes out when the handler returns.
  }

  /** The response for API Gateway, which sets the length. */
  result(): ApiResult {
    const { 'content-length': _, ...headers } = { ...this.#head?.headers }
    return { statusCode: this.#head?.statusCode ?? 500, headers, body: Buffer.concat(this.#chunks).toString('utf8') }
  }
}

/**
 * What a function needs at the end of its time: an upstream is read on for its usage for 30 s, and a ledger that is out of
 * reach is tried for up to a minute. A function that is killed before that has served without a bill.
 */
const SETTLING_MILLISECONDS = 95_000

/**
 * The two forms of a relayed operation: `handler` responds in one piece, `streamHandler` byte by byte through Lambda's
 * response stream. The stack picks one of them.
 */
export function relayHandlers({ operation, errors, relay, takesBody, query }: RelayRoute) {
  const relayed = { relay, takesBody, query, allowedOrigins: allowedOrigins() }
  const handler = async (event: ApiEvent, lambda: Context): Promise<ApiResult> => {
    const received = receive(event, lambda)
    const response = new BufferedResponse(received.headers)
    await serveRelay(new RelayExchange({ operation, errors, ...received, response }), relayed)
    return response.result()
  }
  const streamHandler = streamifyResponse(
    async (event: ApiEvent, responseStream: LambdaResponseStream, lambda: Context): Promise<void> => {
      const received = receive(event, lambda)
      const response = new StreamingResponse(responseStream, received.headers)
      const timeUp = setTimeout(() => response.giveUp(), lambda.getRemainingTimeInMillis() - SETTLING_MILLISECONDS)
      const exchange = new RelayExchange({ operation, errors, ...received, response })
      const endBound = boundSilence(exchange, response)
      await serveRelay(exchange, relayed)
      endBound()
      await response.finished()
      clearTimeout(timeUp)
    },
  )
  return { handler, streamHandler }
}

function receive(event: ApiEvent, { awsRequestId }: Context) {
  const request = receivedRequest(event)
  const requestId = timeOrderedId(awsRequestId, Date.now())
  return { request, requestId, headers: new ResponseHeaders(requestId) }
}
