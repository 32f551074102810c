import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda'
import type { Session } from '#core/admin/session.ts'
import type { AccountView } from '#core/api/balance.ts'
import type { IgnoredParts } from '#core/api/ignored-fields.ts'
import { isRequestId } from '#core/ids.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import type { RateState } from '#core/limits.ts'
import type { Caller } from '#store/callers.ts'
import type { FoundTenant } from '#store/sessions/find-session.ts'

/** An API Gateway proxy event on its way through the middleware; each step adds its own field. */
export type ApiEvent = APIGatewayProxyEvent & {
  caller?: Caller
  /** The signed-in user of the console, on routes of the admin API. */
  session?: Session
  /** The tenant that the query names, where the operation reads it with the session; undefined if there is none. */
  askedTenant?: FoundTenant | undefined
  /** The caller's own job that the path names, where the operation reads it with the key; undefined if there is none. */
  job?: VideoJob | undefined
  /** What the caller's key and tenant have, where the operation reads it with the key. */
  account?: AccountView | undefined
  json?: unknown
  /** What the request prefers, and what of it is ignored; set before the handler. */
  handling?: Handling
  /** What the key has left; undefined for a key without a limit. */
  rate?: RateState | undefined
  startedAt?: number
}

/** How a request is handled: whether strictly, and which of its parts nobody reads. */
export type Handling = { readonly isStrict: boolean; readonly ignored: IgnoredParts }

/** The response of a buffered operation to API Gateway. */
export type ApiResult = APIGatewayProxyResult

/** A header by its name, in whatever case it arrived. */
export function headerOf(event: Pick<ApiEvent, 'headers'>, name: string): string | undefined {
  const wanted = name.toLowerCase()
  for (const [key, value] of Object.entries(event.headers ?? {})) {
    if (key.toLowerCase() === wanted) {
      return value
    }
  }
  return undefined
}

/** Every value of a header, in the order of its lines. @param name in lower case. */
export function headerLinesOf({ multiValueHeaders }: Pick<ApiEvent, 'multiValueHeaders'>, name: string): string[] {
  const lines: string[] = []
  for (const [key, values] of Object.entries(multiValueHeaders ?? {})) {
    if (key.toLowerCase() === name) {
      lines.push(...(values ?? []))
    }
  }
  return lines
}

/** A step was left out of the chain: a fault of the handler, never of a request. */
export class MiddlewareOrderError extends Error {
  override readonly name = 'MiddlewareOrderError'
}

/** The authenticated caller. @throws MiddlewareOrderError when `authenticate` did not run. */
export function authenticatedCaller(event: ApiEvent): Caller {
  if (event.caller === undefined) {
    throw new MiddlewareOrderError('authenticate must run before the handler')
  }
  return event.caller
}

/** What the caller has. @throws MiddlewareOrderError when the look-up of the key did not read it. */
export function accountOf({ account }: ApiEvent): AccountView {
  if (account === undefined) {
    throw new MiddlewareOrderError('the look-up of the key must read the account')
  }
  return account
}

/** A JSON response with a body that is a string already, so that an upstream's fields keep their bytes. */
export function jsonResult(statusCode: number, body: string): ApiResult {
  return { statusCode, headers: { 'content-type': 'application/json' }, body }
}

/** An HTTP request as every operation may read it, whichever server received it. */
export type ReceivedRequest = {
  /** Without the query. */
  readonly path: string
  /** Names of the query parameters. */
  readonly queryNames: readonly string[]
  /** Every value of a header, in the order of its lines. @param name in lower case. */
  readonly headerLines: (name: string) => readonly string[]
  /** All bytes of the body; none without a body. */
  readonly body: Buffer
  /** The id that a platform in front of the server gave the request; undefined without one. */
  readonly platformRequestId: string | undefined
}

/** The value of a header, the last of several. @param name in lower case. */
export function headerValue({ headerLines }: Pick<ReceivedRequest, 'headerLines'>, name: string): string | undefined {
  return headerLines(name).at(-1)
}

/** The request in an event of API Gateway. Its body is decoded each time that it is read. */
export function receivedRequest(event: ApiEvent): ReceivedRequest {
  return {
    path: event.path,
    queryNames: Object.keys(event.queryStringParameters ?? {}),
    headerLines: (name) => {
      const lines = headerLinesOf(event, name)
      // Some emulators send `headers` alone.
      const only = lines.length === 0 ? headerOf(event, name) : undefined
      return only === undefined ? lines : [only]
    },
    get body() {
      return Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8')
    },
    platformRequestId: event.requestContext?.requestId,
  }
}

/** The id that the client sees: API Gateway's, or Lambda's where a client chose an id that is no token. */
export function requestIdOf(event: Pick<ApiEvent, 'requestContext'>, context: Pick<Context, 'awsRequestId'>): string {
  const requestId = event.requestContext?.requestId
  return isRequestId(requestId) ? requestId : context.awsRequestId
}
