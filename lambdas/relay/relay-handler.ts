import type { Context } from 'aws-lambda'
import { sha256Hex } from '#adapters/crypto/sha256.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import { type AllowedOrigins, crossOriginHeaders } from '#core/contract/cross-origin.ts'
import {
  InvalidApiKeyError,
  InvalidRequestError,
  KeyRateExceededError,
  ModelNotFoundError,
  RequestBodyTooLargeError,
  ServiceUnavailableError,
} from '#core/errors.ts'
import { repeatedField } from '#core/json/json-fields.ts'
import { timeOrderedId } from '#core/time-ordered-id.ts'
import { type ApiEvent, type ApiResult, headerOf } from '#middleware/api-event.ts'
import { presentedKey } from '#middleware/authenticate.ts'
import { allowedOrigins } from '#middleware/cross-origin.ts'
import { readJsonBody } from '#middleware/json-body.ts'
import { countRequest } from '#middleware/limit-rate.ts'
import { rateHeaders } from '#middleware/rate-headers.ts'
import { handlingOf } from '#middleware/strict-handling.ts'
import { BufferedResponse } from './buffered-response.ts'
import { ResponseHeaders } from './client-response.ts'
import { boundSilence } from './front-door-limit.ts'
import { measureRequest } from './measure-request.ts'
import { openRelayContext, type RelayContext, type RelayProcess } from './relay-context.ts'
import { CallerChangedError, RelayExchange } from './relay-exchange.ts'
import { type LambdaResponseStream, StreamingResponse, streamifyResponse } from './streaming-response.ts'

/** Below Lambda's 6 MB for a whole event. */
const BODY_BYTES_MAX = 5 * 1024 * 1024

/** JSON schemas of tools nest deep; a bomb of brackets nests deeper. */
const DEPTH_MAX = 128

/**
 * What a function needs at the end of its time: an upstream is read on for its usage for 30 s, and a ledger that is out of
 * reach is tried for up to a minute. A function that is killed before that has served without a bill.
 */
const SETTLING_MILLISECONDS = 95_000

/** Relays one request and bills it. Ends after the settlement. */
type Relay = (exchange: RelayExchange, context: RelayContext) => Promise<void>

/**
 * The two forms of a relayed operation: `handler` responds in one piece, `streamHandler` byte by byte through Lambda's
 * response stream. The stack picks one of them.
 */
export function relayHandlers(operation: string, relay: Relay) {
  const allowed = allowedOrigins()
  const handler = async (event: ApiEvent, lambda: Context): Promise<ApiResult> => {
    const requestId = timeOrderedId(lambda.awsRequestId, Date.now())
    const headers = new ResponseHeaders(requestId)
    const response = new BufferedResponse(headers)
    crossOrigin(headers, event, allowed)
    await serve(new RelayExchange({ operation, event, requestId, headers, response }), relay)
    return response.result()
  }
  const streamHandler = streamifyResponse(
    async (event: ApiEvent, responseStream: LambdaResponseStream, lambda: Context): Promise<void> => {
      const requestId = timeOrderedId(lambda.awsRequestId, Date.now())
      const headers = new ResponseHeaders(requestId)
      const response = new StreamingResponse(responseStream, headers)
      crossOrigin(headers, event, allowed)
      const timeUp = setTimeout(() => response.giveUp(), lambda.getRemainingTimeInMillis() - SETTLING_MILLISECONDS)
      const exchange = new RelayExchange({ operation, event, requestId, headers, response })
      const endBound = boundSilence(event, { exchange, response })
      await serve(exchange, relay)
      endBound()
      await response.finished()
      clearTimeout(timeUp)
    },
  )
  return { handler, streamHandler }
}

/**
 * The middleware of the relayed routes behind `crossOrigin`, in the order and by the names of the middy chains (`#middleware/handler-chain.ts`):
 * log, errors, key, rate, body, strict handling, operation. Not a middy chain because middy takes a streamed response as one readable
 * stream: here the settlement follows the last byte, and a client that leaves is noticed.
 * Never rejects: every failure has been sent or logged.
 */
async function serve(exchange: RelayExchange, relay: Relay): Promise<void> {
  await requestLog(exchange, () =>
    errorResponse(exchange, async () => {
      const context = openRelayContext()
      await authenticate(exchange, context)
      let isCounted = false
      await currentKey(exchange, context, async () => {
        if (!isCounted) {
          await limitRate(exchange, context)
          isCounted = true
        }
        await jsonBody(exchange)
        strictHandling(exchange)
        await relay(exchange, { ...context, catalogue: await context.currentCatalogue.read() })
      })
    }),
  )
}

/** Lets scripts of the allowed origins read the response, whatever it is. */
function crossOrigin(headers: ResponseHeaders, event: ApiEvent, allowed: AllowedOrigins): void {
  if (allowed.length > 0) {
    headers.add(crossOriginHeaders(headerOf(event, 'origin'), { allowed }))
  }
}

async function requestLog(exchange: RelayExchange, next: () => Promise<void>): Promise<void> {
  await next()
  const { operation, requestId, receivedAt, response, headers } = exchange
  const { statusCode } = response
  const durationMilliseconds = Math.round(performance.now() - receivedAt)
  const facts = { ...exchange.facts, firstByteMilliseconds: headers.firstByteMilliseconds }
  logger.info('request', { operation, requestId, statusCode, durationMilliseconds, ...facts })
  measureRequest(statusCode, facts)
}

/** Sends what fails outside of a bill. */
async function errorResponse(exchange: RelayExchange, next: () => Promise<void>): Promise<void> {
  try {
    await next()
  } catch (error) {
    exchange.tellFailure(error, { isBilled: false })
  }
}

/** Reads the switches beside the key where they are too old. @throws InvalidApiKeyError, ServiceUnavailableError */
async function authenticate(exchange: RelayExchange, { callers, currentCatalogue }: RelayProcess): Promise<void> {
  const keyDigest = sha256Hex(presentedKey(exchange.event))
  const found = await currentCatalogue.readBeside(() => callers.lookUp(keyDigest))
  if (found === undefined) {
    throw new InvalidApiKeyError()
  }
  exchange.authenticated(found.caller, { read: () => callers.confirm(keyDigest), isCurrent: found.isConfirmed })
}

/** Changes of a key that one request follows; nobody changes a key more often while a request begins. */
const CHANGES_MAX = 3

/**
 * Serves a request with what its key may do now. A request that began with an older record of a changed key begins again; it has moved no
 * money and sent nothing.
 * @throws ServiceUnavailableError for a key that keeps changing.
 */
async function currentKey(
  exchange: RelayExchange,
  { callers }: RelayProcess,
  next: () => Promise<void>,
): Promise<void> {
  for (let changes = 0; changes < CHANGES_MAX; changes += 1) {
    try {
      return await invalidKeyFirst(exchange, next)
    } catch (error) {
      if (error instanceof InvalidApiKeyError) {
        callers.forget(exchange.caller.keyDigest)
      }
      if (!(error instanceof CallerChangedError)) {
        throw error
      }
      const { caller } = error
      exchange.authenticated(caller, { read: () => callers.confirm(caller.keyDigest), isCurrent: true })
    }
  }
  throw new ServiceUnavailableError()
}

/** A client whose key was revoked or changed in the last minute hears of that first, and not of what is wrong with the request. */
async function invalidKeyFirst(exchange: RelayExchange, next: () => Promise<void>): Promise<void> {
  try {
    await next()
  } catch (error) {
    if (!exchange.response.isOpen && movesNoMoney(error)) {
      await exchange.confirmCaller()
    }
    throw error
  }
}

/** Errors that end a request before its reservation, whose transaction would have read the key again. */
function movesNoMoney(error: unknown): boolean {
  return (
    error instanceof InvalidRequestError ||
    error instanceof KeyRateExceededError ||
    error instanceof RequestBodyTooLargeError ||
    error instanceof ModelNotFoundError
  )
}

/** @throws KeyRateExceededError */
async function limitRate(exchange: RelayExchange, { rates }: RelayProcess): Promise<void> {
  await countRequest(rates, exchange.caller, (left) => exchange.headers.add(rateHeaders(left)))
}

/** @throws RequestBodyTooLargeError, InvalidRequestError */
async function jsonBody(exchange: RelayExchange): Promise<void> {
  const { text, json } = await readJsonBody(exchange.event, { bytesMax: BODY_BYTES_MAX, depthMax: DEPTH_MAX })
  const repeated = text.startsWith('{') || text.trimStart().startsWith('{') ? repeatedField(text) : undefined
  if (repeated !== undefined) {
    throw new InvalidRequestError([
      { path: repeated.slice(0, 64), message: 'each field of the body must appear only once' },
    ])
  }
  exchange.parsed({ text, bytes: Buffer.byteLength(text), json })
}

/** The operation refuses a strict request when it knows the model, whose channels decide what is ignored. */
function strictHandling(exchange: RelayExchange): void {
  exchange.handled(handlingOf(exchange.event, exchange.operation))
}
