import { type AllowedOrigins, crossOriginHeaders } from '#core/api/cross-origin.ts'
import type { ErrorForm } from '#core/api/error-form.ts'
import { BudgetExceededError } from '#core/budgets.ts'
import {
  InvalidApiKeyError,
  InvalidRequestError,
  KeyRateExceededError,
  ModelNotFoundError,
  RequestBodyTooLargeError,
  ServiceUnavailableError,
} from '#core/errors.ts'
import { repeatedField } from '#core/json/json-fields.ts'
import { NO_RATE_HEADERS, rateHeaders } from '#core/limits.ts'
import { headerValue } from '#middleware/api-event.ts'
import { countRequest, presentedKey } from '#middleware/authenticate.ts'
import { findShown } from '#middleware/find-shown.ts'
import { handlingOf, namesInBody, readJsonBody } from '#middleware/request-input.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { measure } from '#platform/telemetry/measures.ts'
import { BODY_BYTES_MAX } from '#routes/define-route.ts'
import type { Caller } from '#store/callers.ts'
import { openRelayContext, type RelayContext, type RelayProcess } from './relay-context.ts'
import { CallerChangedError, type RelayExchange } from './relay-exchange.ts'

/**
 * Emits the metrics of one relayed request. A request that named no model has none.
 * @param statusCode undefined when the client left before it had a response.
 * @param facts the fields of the request's log line.
 */
export function measureRequest(statusCode: number | undefined, facts: Readonly<Record<string, unknown>>): void {
  const { model, channelId } = facts
  if (typeof model !== 'string' || statusCode === undefined) {
    return
  }
  const outcome = outcomeOf(statusCode, facts.streamEnd)
  measure(
    {
      [outcome]: 1,
      first_byte_milliseconds: statusCode < 400 ? numberOf(facts.firstByteMilliseconds) : undefined,
      input_tokens: numberOf(facts.inputTokens),
      output_tokens: numberOf(facts.outputTokens),
      billed_credits: numberOf(facts.billedCredits),
    },
    { model, channel: typeof channelId === 'string' ? channelId : 'none' },
  )
}

function outcomeOf(statusCode: number, streamEnd: unknown): 'relay_succeeded' | 'relay_failed' | 'relay_rejected' {
  if (statusCode >= 500 || streamEnd === 'broken') {
    return 'relay_failed'
  }
  return statusCode >= 400 ? 'relay_rejected' : 'relay_succeeded'
}

function numberOf(fact: unknown): number | undefined {
  return typeof fact === 'number' ? fact : undefined
}

/** JSON schemas of tools nest deep; a bomb of brackets nests deeper. */
const DEPTH_MAX = 128

/** Relays one request and bills it. Ends after the settlement. */
export type Relay = (exchange: RelayExchange, context: RelayContext) => Promise<void>

/** A relayed operation. */
export type RelayRoute = {
  /** As in the table of routes. */
  readonly operation: string
  readonly errors: ErrorForm
  readonly relay: Relay
  readonly takesBody: boolean
  /** The query parameters that it knows. */
  readonly query?: readonly string[] | undefined
}

type Served = Pick<RelayRoute, 'relay' | 'takesBody' | 'query'> & {
  /** Whose scripts may read the response. */
  readonly allowedOrigins: AllowedOrigins
}

/**
 * The middleware of the relayed routes, in the order and by the names of the middy chains (`#middleware/handler-chain.ts`):
 * origins, log, errors, key, rate, body, strict handling, operation. Not a middy chain because middy takes a streamed response as one readable
 * stream: here the settlement follows the last byte, and a client that leaves is noticed.
 * Never rejects: every failure has been sent or logged.
 */
export async function serveRelay(exchange: RelayExchange, operation: Served): Promise<void> {
  const { relay, takesBody, query } = operation
  crossOrigin(exchange, operation)
  await requestLog(exchange, () =>
    errorResponse(exchange, async () => {
      const context = openRelayContext()
      await authenticate(exchange, context)
      let counted: Caller | undefined
      await currentKey(exchange, context, async () => {
        await limitRate(exchange, context, counted)
        counted = exchange.caller
        if (takesBody) {
          await jsonBody(exchange)
        }
        strictHandling(exchange, takesBody, query)
        await relay(exchange, { ...context, catalogue: await context.currentCatalogue.read() })
      })
    }),
  )
}

/** Lets scripts of the allowed origins read the response, whatever it is. */
function crossOrigin({ headers, request }: RelayExchange, { allowedOrigins: allowed }: Served): void {
  if (allowed.length > 0) {
    headers.add(crossOriginHeaders(headerValue(request, 'origin'), { allowed }))
  }
}

async function requestLog(exchange: RelayExchange, next: () => Promise<void>): Promise<void> {
  await next()
  const { operation, requestId, receivedAt, response, headers } = exchange
  const { statusCode } = response
  const durationMilliseconds = Math.round(performance.now() - receivedAt)
  const reason = exchange.outcome(undefined).cause
  const facts = {
    ...(reason === undefined ? {} : { reason }),
    ...exchange.facts,
    firstByteMilliseconds: headers.firstByteMilliseconds,
  }
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
  const shown = presentedKey(exchange.request)
  const { caller, isConfirmed } = await currentCatalogue.readBeside(() =>
    findShown(shown, (keyDigest) => callers.lookUp(keyDigest)),
  )
  exchange.authenticated(caller, { read: () => callers.confirm(caller.keyDigest), isCurrent: isConfirmed })
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
      return await next().catch((error: unknown) => invalidKeyFirst(exchange, error))
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

/**
 * A client whose key was revoked in the last minute gets its 401 before any complaint about the request. A reservation that was
 * refused for the key needs a read too: only a read can tell a changed key from a revoked one.
 * @throws InvalidApiKeyError, CallerChangedError, or the error itself.
 */
async function invalidKeyFirst(exchange: RelayExchange, error: unknown): Promise<never> {
  if (error instanceof InvalidApiKeyError) {
    await exchange.renewCaller()
  } else if (!exchange.response.isOpen && movesNoMoney(error)) {
    await exchange.confirmCaller()
  }
  throw error
}

/** Errors that end a request before its reservation, whose transaction would have read the key again. */
function movesNoMoney(error: unknown): boolean {
  return (
    error instanceof InvalidRequestError ||
    error instanceof KeyRateExceededError ||
    error instanceof RequestBodyTooLargeError ||
    error instanceof ModelNotFoundError ||
    // No transaction is written for a budget that is missing.
    (error instanceof BudgetExceededError && error.shortfall === undefined)
  )
}

/**
 * Counts a request once, also one that begins again: if the rate of its key was changed, the new rate judges it.
 * @param counted the key by whose rate the request was counted before.
 * @throws KeyRateExceededError
 */
async function limitRate(exchange: RelayExchange, { rates }: RelayProcess, counted: Caller | undefined): Promise<void> {
  const { caller, headers } = exchange
  if (counted === undefined || counted.ratePerMinute !== caller.ratePerMinute) {
    const take = () => rates.take(caller, counted?.ratePerMinute)
    await countRequest({ take }, caller, (left) => headers.add({ ...NO_RATE_HEADERS, ...rateHeaders(left) }))
  }
}

/** @throws RequestBodyTooLargeError, InvalidRequestError */
async function jsonBody(exchange: RelayExchange): Promise<void> {
  const { text, json } = await readJsonBody(exchange.request, { bytesMax: BODY_BYTES_MAX, depthMax: DEPTH_MAX })
  const repeated = text.startsWith('{') || text.trimStart().startsWith('{') ? repeatedField(text) : undefined
  if (repeated !== undefined) {
    throw new InvalidRequestError([
      { path: repeated.slice(0, 64), message: 'each field of the body must appear only once' },
    ])
  }
  exchange.parsed({ text, bytes: Buffer.byteLength(text), json })
}

/** An operation with a body refuses a strict request itself, when it knows the model, whose channels decide what is ignored. */
function strictHandling(exchange: RelayExchange, takesBody: boolean, query: RelayRoute['query']): void {
  const { request } = exchange
  const handling = handlingOf(request, { query: query ?? [] })
  exchange.handled(handling)
  if (!takesBody) {
    exchange.refuseIgnored(() => namesInBody(request.body))
  }
}
