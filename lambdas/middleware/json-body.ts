import type { MiddlewareObj } from '@middy/core'
import { nextTurn } from '#adapters/next-turn.ts'
import { InvalidRequestError, RequestBodyTooLargeError } from '#core/errors.ts'
import { exceededBound } from '#core/json/json-bounds.ts'
import { parseJsonText } from '#core/json/parse-json-text.ts'
import type { ApiEvent, ApiResult } from './api-event.ts'
import { headerValue, type ReceivedRequest, receivedRequest } from './received-request.ts'

/** No video request nests deeper; a bomb of brackets does. */
const DEPTH_MAX = 32

/** Fields at the top level; no API has a tenth as many. */
const FIELDS_MAX = 1_000

/**
 * Strings, objects and lists of one body: parsing so many takes less than a tenth of a second. A conversation of 16,384
 * messages, more than a request may have, holds 82,000.
 */
const ELEMENTS_MAX = 100_000

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
  refuseAbove(text, depthMax)
  await pause()
  const json = parse(text)
  await pause()
  return { text, json }
}

function refuseAbove(text: string, depthMax: number): void {
  const exceeded = exceededBound(text, { depthMax, fieldsMax: FIELDS_MAX, elementsMax: ELEMENTS_MAX })
  if (exceeded !== undefined) {
    const messages = {
      depthMax: `the body must nest at most ${depthMax} levels deep`,
      fieldsMax: `the body must hold at most ${FIELDS_MAX} fields at the top level`,
      elementsMax: `the body must hold at most ${ELEMENTS_MAX} strings, objects and arrays: send smaller requests`,
    }
    throw invalidBody(messages[exceeded])
  }
}

function parse(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch {
    throw invalidBody('the body must be valid JSON')
  }
}

type Encoded = { readonly bytesMax: number; readonly coding: string | undefined }

function readText(bytes: Buffer, { bytesMax, coding = '' }: Encoded): string {
  if (!['', 'identity'].includes(coding.trim().toLowerCase())) {
    throw invalidBody('the body must not be compressed')
  }
  if (bytes.length > bytesMax) {
    throw new RequestBodyTooLargeError()
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
