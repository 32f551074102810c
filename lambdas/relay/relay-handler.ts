import type { Context } from 'aws-lambda'
import { sha256Hex } from '#adapters/crypto/sha256.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import { IGNORED_HEADER, ignoredHeader } from '#core/contract/ignored-fields.ts'
import {
  InvalidApiKeyError,
  InvalidRequestError,
  KeyRateExceededError,
  ModelNotFoundError,
  RequestBodyTooLargeError,
} from '#core/errors.ts'
import { repeatedMember } from '#core/json/json-members.ts'
import { type ApiEvent, type ApiResult, headerOf } from '#middleware/api-event.ts'
import { presentedKey } from '#middleware/authenticate.ts'
import { readJsonBody } from '#middleware/json-body.ts'
import { countRequest } from '#middleware/limit-rate.ts'
import { rateHeaders } from '#middleware/rate-headers.ts'
import { answerError, onlyOnce } from './answer-error.ts'
import { BufferedAnswer } from './buffered-answer.ts'
import { measureRequest } from './measure-request.ts'
import { openRelayContext, type RelayContext } from './relay-context.ts'
import type { AnswerWriter, RelayRequest } from './relay-request.ts'
import { type LambdaResponseStream, StreamedAnswer, streamifyResponse } from './streamed-answer.ts'

/** Below Lambda's 6 MB for a whole event. */
const BODY_BYTES_MAX = 5 * 1024 * 1024

/** JSON schemas of tools nest deep; a bomb of brackets nests deeper. */
const DEPTH_MAX = 128

/**
 * What a function needs at the end of its time: an upstream is read on for its usage for 30 s, and the ledger, should it
 * be out of reach, is tried for up to a minute. A function that is killed before that has served and not billed.
 */
const SETTLING_MILLISECONDS = 95_000

/** What fails outside of a bill. */
const NOT_BILLED = { isBilled: false } as const

/** What an operation does between a request and its answer; it ends after the settlement. */
type Relay = (request: RelayRequest, answer: AnswerWriter, context: RelayContext) => Promise<void>

/**
 * The two forms of a relayed operation over one core: `handler` answers in one piece, `streamHandler` byte by byte
 * through Lambda's response stream; the stack picks. Written without middy, whose streaming mode takes the answer as one
 * readable stream: here the settlement follows the last byte, and a client that leaves is noticed.
 */
export function relayHandlers(operation: string, relay: Relay) {
  const handler = async (event: ApiEvent, lambda: Context): Promise<ApiResult> => {
    const answer = new BufferedAnswer()
    await serve({ operation, relay, event, lambda }, answer)
    return answer.result()
  }
  const streamHandler = streamifyResponse(
    async (event: ApiEvent, responseStream: LambdaResponseStream, lambda: Context): Promise<void> => {
      const answer = new StreamedAnswer(responseStream)
      const timeUp = setTimeout(() => answer.giveUp(), lambda.getRemainingTimeInMillis() - SETTLING_MILLISECONDS)
      await serve({ operation, relay, event, lambda }, answer)
      await answer.finished()
      clearTimeout(timeUp)
    },
  )
  return { handler, streamHandler }
}

type Served = {
  readonly operation: string
  readonly relay: Relay
  readonly event: ApiEvent
  readonly lambda: Context
}

/** One request from its key to its log line. Never rejects: what is left to say has been answered or logged. */
async function serve({ operation, relay, event, lambda }: Served, writer: AnswerWriter & Headed): Promise<void> {
  const receivedAt = performance.now()
  // API Gateway lets a client choose its request id, and this one names money: Lambda's own is nobody's to choose.
  const requestId = lambda.awsRequestId
  const facts: Record<string, unknown> = { gatewayRequestId: event.requestContext?.requestId }
  const added: Record<string, string> = {}
  writer.beforeOpen = (headers) => {
    const elapsed = Math.round(performance.now() - receivedAt)
    facts.firstByteMilliseconds = elapsed
    return { ...headers, ...added, 'x-request-id': requestId, 'openai-processing-ms': String(elapsed) }
  }
  const tellFailure = onlyOnce((error, { isBilled }) =>
    answerError(error, { path: event.path, requestId, writer, isBilled }),
  )
  try {
    await relayEvent({ relay, event, requestId, receivedAt, facts, added, tellFailure }, writer)
  } catch (error) {
    tellFailure(error, NOT_BILLED)
  }
  logger.info('request', {
    operation,
    requestId,
    statusCode: writer.statusCode,
    durationMilliseconds: Math.round(performance.now() - receivedAt),
    ...facts,
  })
  measureRequest(writer.statusCode, facts)
}

/** What both writers add to an answer on its way out. */
type Headed = {
  beforeOpen: (headers: Readonly<Record<string, string>>) => Record<string, string>
  readonly statusCode: number | undefined
}

type RelayedEvent = Pick<Served, 'relay' | 'event'> &
  Pick<RelayRequest, 'requestId' | 'receivedAt' | 'tellFailure'> & {
    readonly facts: Record<string, unknown>
    /** Headers that say what the key has left, and what of the body was ignored. */
    readonly added: Record<string, string>
  }

async function relayEvent(
  { relay, event, requestId, receivedAt, facts, added, tellFailure }: RelayedEvent,
  writer: AnswerWriter,
): Promise<void> {
  const context = openRelayContext()
  const keyDigest = sha256Hex(presentedKey(event))
  const found = await context.callers.lookUp(keyDigest)
  if (found === undefined) {
    throw new InvalidApiKeyError()
  }
  facts.tenantId = found.caller.tenantId
  let isConfirmed = found.isConfirmed
  const confirmCaller = async () => {
    if (!isConfirmed) {
      await context.callers.confirm(keyDigest)
      isConfirmed = true
    }
  }
  try {
    await countRequest(context.rates, found.caller, (left) => Object.assign(added, rateHeaders(left)))
    const body = await readBody(event)
    const sessionId = headerOf(event, 'x-session-id')
    const note = (more: Readonly<Record<string, unknown>>) => Object.assign(facts, more)
    const tellIgnored = (names: readonly string[]) => {
      delete added[IGNORED_HEADER]
      Object.assign(added, ignoredHeader(names))
    }
    const { caller } = found
    await relay(
      { requestId, receivedAt, caller, confirmCaller, ...body, sessionId, tellFailure, tellIgnored, note },
      writer,
      context,
    )
  } catch (error) {
    // A key that was revoked in the last minute is told so, and not what is wrong with the request.
    if (!writer.isOpen && movesNoMoney(error)) {
      await confirmCaller()
    }
    if (error instanceof InvalidApiKeyError) {
      context.callers.forget(keyDigest)
    }
    throw error
  }
}

/** Errors that end a request before its reservation, whose transaction would have looked at the key. */
function movesNoMoney(error: unknown): boolean {
  return (
    error instanceof InvalidRequestError ||
    error instanceof KeyRateExceededError ||
    error instanceof RequestBodyTooLargeError ||
    error instanceof ModelNotFoundError
  )
}

async function readBody(event: ApiEvent): Promise<Pick<RelayRequest, 'bodyText' | 'bodyBytes' | 'json'>> {
  const { text, json } = await readJsonBody(event, { bytesMax: BODY_BYTES_MAX, depthMax: DEPTH_MAX })
  const repeated = text.startsWith('{') || text.trimStart().startsWith('{') ? repeatedMember(text) : undefined
  if (repeated !== undefined) {
    throw new InvalidRequestError([
      { path: repeated.slice(0, 64), message: 'each field of the body must appear only once' },
    ])
  }
  return { bodyText: text, bodyBytes: Buffer.byteLength(text), json }
}
