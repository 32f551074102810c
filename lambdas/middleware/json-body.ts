import type { MiddlewareObj } from '@middy/core'
import { InvalidRequestError, RequestBodyTooLargeError } from '#core/errors.ts'
import { isNestedDeeperThan } from '#core/json-depth.ts'
import type { ApiEvent, ApiResult } from './api-event.ts'
import { headerOf } from './api-event.ts'

/** No request for a video nests deeper; a bomb of brackets does. */
const DEPTH_MAX = 32

/** A body as text and as what it says. */
export type JsonBody = { readonly text: string; readonly json: unknown }

/**
 * Parses the body into `event.json`, whatever its content type says.
 * @throws RequestBodyTooLargeError above `bytesMax`; InvalidRequestError for everything that is not JSON in plain UTF-8.
 */
export function jsonBody({ bytesMax }: { bytesMax: number }): MiddlewareObj<ApiEvent, ApiResult> {
  const before = ({ event }: { event: ApiEvent }) => {
    event.json = readJsonBody(event, { bytesMax, depthMax: DEPTH_MAX }).json
  }
  return { before }
}

/** @throws RequestBodyTooLargeError, InvalidRequestError as {@link jsonBody}. */
export function readJsonBody(
  event: ApiEvent,
  { bytesMax, depthMax }: { bytesMax: number; depthMax: number },
): JsonBody {
  const text = readText(event, bytesMax)
  if (isNestedDeeperThan(text, depthMax)) {
    throw invalidBody(`the body nests deeper than ${depthMax} levels`)
  }
  try {
    return { text, json: JSON.parse(text) }
  } catch {
    throw invalidBody('the body is not valid JSON')
  }
}

function readText(event: ApiEvent, bytesMax: number): string {
  const coding = headerOf(event, 'content-encoding')?.trim().toLowerCase() ?? ''
  if (coding !== '' && coding !== 'identity') {
    throw invalidBody('compressed bodies are not accepted')
  }
  const bytes = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8')
  if (bytes.length > bytesMax) {
    throw new RequestBodyTooLargeError()
  }
  if (bytes.length === 0) {
    throw invalidBody('the body is empty')
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw invalidBody('the body is not valid UTF-8')
  }
}

function invalidBody(message: string): InvalidRequestError {
  return new InvalidRequestError([{ path: '', message }])
}
