import type { MiddlewareObj } from '@middy/core'
import { InvalidRequestError, RequestBodyTooLargeError } from '#core/errors.ts'
import { isNestedDeeperThan } from '#core/json-depth.ts'
import type { ApiEvent, ApiResult } from './api-event.ts'
import { headerOf } from './api-event.ts'

/** No request of the interface nests deeper; a bomb of brackets does. */
const DEPTH_MAX = 32

/**
 * Parses the body into `event.json`, whatever its content type says.
 * @throws RequestBodyTooLargeError above `bytesMax`; InvalidRequestError for everything that is not JSON in plain UTF-8.
 */
export function jsonBody({ bytesMax }: { bytesMax: number }): MiddlewareObj<ApiEvent, ApiResult> {
  const before = ({ event }: { event: ApiEvent }) => {
    const text = readText(event, bytesMax)
    if (isNestedDeeperThan(text, DEPTH_MAX)) {
      throw invalidBody(`the body nests deeper than ${DEPTH_MAX} levels`)
    }
    try {
      event.json = JSON.parse(text)
    } catch {
      throw invalidBody('the body is not valid JSON')
    }
  }
  return { before }
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
