import type { Context } from 'aws-lambda'
import { timeOrderedId } from '#core/ids.ts'
import { type ApiEvent, type ApiResult, receivedRequest } from '#middleware/api-event.ts'
import { allowedOrigins } from '#middleware/responses.ts'
import { BufferedResponse } from './buffered-response.ts'
import { ResponseHeaders } from './client-response.ts'
import { boundSilence } from './front-door-limit.ts'
import { RelayExchange } from './relay-exchange.ts'
import { type Relay, serveRelay } from './serve-relay.ts'
import { type LambdaResponseStream, StreamingResponse, streamifyResponse } from './streaming-response.ts'

/**
 * What a function needs at the end of its time: an upstream is read on for its usage for 30 s, and a ledger that is out of
 * reach is tried for up to a minute. A function that is killed before that has served without a bill.
 */
const SETTLING_MILLISECONDS = 95_000

/**
 * The two forms of a relayed operation: `handler` responds in one piece, `streamHandler` byte by byte through Lambda's
 * response stream. The stack picks one of them.
 */
export function relayHandlers(operation: string, relay: Relay) {
  const relayed = { relay, allowedOrigins: allowedOrigins() }
  const handler = async (event: ApiEvent, lambda: Context): Promise<ApiResult> => {
    const received = receive(event, lambda)
    const response = new BufferedResponse(received.headers)
    await serveRelay(new RelayExchange({ operation, ...received, response }), relayed)
    return response.result()
  }
  const streamHandler = streamifyResponse(
    async (event: ApiEvent, responseStream: LambdaResponseStream, lambda: Context): Promise<void> => {
      const received = receive(event, lambda)
      const response = new StreamingResponse(responseStream, received.headers)
      const timeUp = setTimeout(() => response.giveUp(), lambda.getRemainingTimeInMillis() - SETTLING_MILLISECONDS)
      const exchange = new RelayExchange({ operation, ...received, response })
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
