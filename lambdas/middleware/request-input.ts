import type { MiddlewareObj } from '@middy/core'
import { ignoredHeader, prefersStrict, refuseIgnored } from '#core/api/ignored-fields.ts'
import { InvalidRequestError, RequestBodyTooLargeError } from '#core/errors.ts'
import { topLevelFields } from '#core/json/json-fields.ts'
import { findExceededBound } from '#core/json/json-scanner.ts'
import { parseJsonText } from '#core/json/parse-json-text.ts'
import { nextTurn } from '#platform/concurrency.ts'
import {
  type ApiEvent,
  type ApiResult,
  type Handling,
  headerValue,
  type ReceivedRequest,
  receivedRequest,
} from './api-event.ts'

/** No video request nests deeper; a bomb of brackets does. */
const DEPTH_MAX = 32

/** Fields at the top level; no API has a tenth as many. */
const FIELDS_MAX = 1_000

/**
 * Strings, objects and lists of one body: parsing so many takes less than a tenth of a second. A conversation of 16,384
 * messages, more than a request may have, holds 82,000.
 */
const ELEMENTS_MAX = 100_000

/** Numbers, `true`, `false` and `null` of one body: more than the tokens of any request for embeddings. */
const NUMBERS_MAX = 1_000_000

/** A smaller body is read in a millisecond or two; each step of the work on a larger one gets its own turn of the event loop. */
const LARGE_BYTES = 65_536

/** A body as a string and as the value that it holds. */
export type JsonBody = { readonly text: string; readonly json: unknown }

/**
 * Parses the body into `event.json`, whatever its content type says.
 * @throws RequestBodyTooLargeError above `bytesMax`; InvalidRequestError for everything that is not JSON in plain UTF-8.
 */
export function jsonBody({ bytesMax }: { bytesMax: number }): MiddlewareObj<ApiEvent, ApiResult> {
  const before = async ({ event }: { event: ApiEvent }) => {
    event.json = (await readJsonBody(receivedRequest(event), { bytesMax, depthMax: DEPTH_MAX })).json
  }
  return { before }
}

/**
 * Reads and parses a body. Other requests get a turn before a large body is decoded, before it is parsed, and after that.
 * @throws RequestBodyTooLargeError, InvalidRequestError as {@link jsonBody}.
 */
export async function readJsonBody(
  request: Pick<ReceivedRequest, 'body' | 'headerLines'>,
  { bytesMax, depthMax }: { bytesMax: number; depthMax: number },
): Promise<JsonBody> {
  const { body } = request
  const isLarge = body.length > LARGE_BYTES
  const pause = () => (isLarge ? nextTurn() : undefined)
  await pause()
  const text = readText(body, { bytesMax, coding: headerValue(request, 'content-encoding') })
  await refuseAbove(text, depthMax)
  await pause()
  const json = await parse(text)
  await pause()
  return { text, json }
}

async function refuseAbove(text: string, depthMax: number): Promise<void> {
  const bounds = { depthMax, fieldsMax: FIELDS_MAX, elementsMax: ELEMENTS_MAX, numbersMax: NUMBERS_MAX }
  const steps = findExceededBound(text, bounds)
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) {
    await nextTurn()
  }
  const exceeded = step.value
  if (exceeded !== undefined) {
    const messages = {
      depthMax: `the body must nest at most ${depthMax} levels deep`,
      fieldsMax: `the body must hold at most ${FIELDS_MAX} fields at the top level`,
      elementsMax: `the body must hold at most ${ELEMENTS_MAX} strings, objects and arrays: send smaller requests`,
      numbersMax: `the body must hold at most ${NUMBERS_MAX} numbers: send smaller requests`,
    }
    throw invalidBody(messages[exceeded])
  }
}

async function parse(text: string): Promise<unknown> {
  try {
    return parseJsonText(text)
  } catch {
    const { faultOfJson } = await import('#core/json/json-fault.ts')
    throw invalidBody(`the body must be valid JSON: ${faultOfJson(text)}`)
  }
}

type Encoded = { readonly bytesMax: number; readonly coding: string | undefined }

function readText(bytes: Buffer, { bytesMax, coding = '' }: Encoded): string {
  if (!['', 'identity'].includes(coding.trim().toLowerCase())) {
    throw invalidBody('the body must not be compressed')
  }
  if (bytes.length > bytesMax) {
    throw new RequestBodyTooLargeError(bytesMax)
  }
  if (bytes.length === 0) {
    throw invalidBody('the body must not be empty: send a JSON object')
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw invalidBody('the body must be valid UTF-8')
  }
}

function invalidBody(message: string): InvalidRequestError {
  return new InvalidRequestError([{ path: '', message }])
}

/** The fields of a body that an operation does not know. */
export type UnknownFields = (json: unknown) => readonly string[]

type Options = {
  /** The query parameters that the operation reads. */
  readonly query: readonly string[]
  readonly takesIdempotencyKey?: boolean | undefined
  /** Left out for operations without a body. */
  readonly unknownFields?: UnknownFields | undefined
}

/**
 * Notes the query parameters, headers and fields that the operation ignores, which the response names. A request with
 * `Prefer: handling=strict` is refused for them.
 * @throws InvalidRequestError naming them.
 */
export function strictHandling({ unknownFields, ...reads }: Options): MiddlewareObj<ApiEvent, ApiResult> {
  const before = async ({ event }: { event: ApiEvent }) => {
    const request = receivedRequest(event)
    const { isStrict, ignored } = handlingOf(request, reads)
    // Nobody reads the body of an operation without one, so only a strict request pays for a look.
    const fields = unknownFields?.(event.json) ?? (isStrict ? namesInBody(request.body) : [])
    event.handling = { isStrict, ignored: { ...ignored, fields } }
    if (isStrict) {
      refuseIgnored(event.handling.ignored)
    }
  }
  return { before }
}

const IDEMPOTENCY_KEY = 'Idempotency-Key'

/** What a request prefers, and the query parameters and headers that its operation ignores; nothing is known of its fields yet. */
export function handlingOf(
  { queryNames, headerLines }: Pick<ReceivedRequest, 'queryNames' | 'headerLines'>,
  { query: known, takesIdempotencyKey = false }: Omit<Options, 'unknownFields'> = { query: [] },
): Handling {
  const query = queryNames.filter((name) => !known.includes(name))
  const isUseless = !takesIdempotencyKey && headerLines(IDEMPOTENCY_KEY.toLowerCase()).length > 0
  const headers = isUseless ? [IDEMPOTENCY_KEY] : []
  return { isStrict: prefersStrict(headerLines('prefer')), ignored: { query, headers, fields: [] } }
}

/** Headers of a response: that the handling was strict (RFC 7240, section 3), and what was ignored. */
export function handlingHeaders(handling: Handling | undefined): Record<string, string> {
  if (handling === undefined) {
    return {}
  }
  const { isStrict, ignored } = handling
  const { fields, query, headers } = ignored
  const others = [...query, ...headers]
  const names = others.length === 0 ? fields : [...new Set([...fields, ...others])]
  return { ...(isStrict ? { 'preference-applied': 'handling=strict' } : {}), ...ignoredHeader(names) }
}

/** The names at the top level of a JSON object; none of any other body. */
export function namesInBody(body: Buffer): readonly string[] {
  const text = body.toString('utf8').trimStart()
  return text.startsWith('{') ? Array.from(topLevelFields(text), ({ name }) => name) : []
}
