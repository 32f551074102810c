import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import type { Caller } from '#adapters/store/accounts/api-key-record.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import type { RateState } from '#core/quota/request-rate.ts'

/** An API Gateway proxy event on its way through the middleware; each piece adds the member that it is named for. */
export type ApiEvent = APIGatewayProxyEvent & {
  caller?: Caller
  /** The caller's own job that the path names, where the operation looks it up with the key; undefined if there is none. */
  job?: VideoJob | undefined
  json?: unknown
  /** What its key has left; undefined for a key without a limit. */
  rate?: RateState | undefined
  startedAt?: number
}

/** What a buffered operation answers to API Gateway. */
export type ApiResult = APIGatewayProxyResult

/** A header by its name, whatever case it arrived in. */
export function headerOf(event: Pick<ApiEvent, 'headers'>, name: string): string | undefined {
  const wanted = name.toLowerCase()
  for (const [key, value] of Object.entries(event.headers ?? {})) {
    if (key.toLowerCase() === wanted) {
      return value
    }
  }
  return undefined
}

/** A middleware was left out of the chain: a fault of the handler, never of a request. */
export class MiddlewareOrderError extends Error {
  override readonly name = 'MiddlewareOrderError'
}

/** The authenticated caller. @throws MiddlewareOrderError when `authenticate` did not run. */
export function callerOf(event: ApiEvent): Caller {
  if (event.caller === undefined) {
    throw new MiddlewareOrderError('authenticate must run before the handler')
  }
  return event.caller
}

/** A JSON answer from a body that is text already, so that upstream members keep their bytes. */
export function jsonResult(statusCode: number, body: string): ApiResult {
  return { statusCode, headers: { 'content-type': 'application/json' }, body }
}
