import middy from '@middy/core'
import type { Context } from 'aws-lambda'
import type { OutputName, OutputOf } from '#core/api/response-schemas.ts'
import { type ApiEvent, type ApiResult, jsonResult } from './api-event.ts'
import { authenticate, type KeyLookup, type Limiter, limitRate } from './authenticate.ts'
import { jsonBody, strictHandling, type UnknownFields } from './request-input.ts'
import { requestLog } from './request-log.ts'
import { allowedOrigins, crossOrigin, errorResponse } from './responses.ts'

/** The facts of a route that its chain reads. */
export type ServedRoute = {
  readonly operation: string
  /** Left out for the fallback: a path without an operation is refused for that, not for its query. */
  readonly query?: readonly string[]
  /** Left out for operations without a body. */
  readonly bodyBytesMax?: number
  readonly takesIdempotencyKey?: true
}

type Steps = {
  /** Left out for operations without a key, which anyone may call. */
  readonly key?: { readonly lookUp: KeyLookup; readonly limiter: () => Limiter }
  /** Left out for operations without a body. */
  readonly unknownFields?: UnknownFields | undefined
}

/**
 * What wraps every buffered handler, from the outside in:
 *
 * 0. `crossOrigin`, where the configuration allows origins, lets their scripts read the response;
 * 1. `requestLog` writes the one log line, and the request id on the response;
 * 2. `errorResponse` turns whatever is thrown into a status and a body;
 * 3. `authenticate` finds the caller of the key;
 * 4. `limitRate` counts the request against the limit of the key;
 * 5. `jsonBody` parses the body: the 401 of a bad key comes before the 400 of a bad body;
 * 6. `strictHandling` notes what of the request is ignored, and refuses a strict request for that;
 * 7. the handler returns the response.
 *
 * The relayed routes take the same steps, by the same names, in `relay/serve-relay.ts`. They stream, and are not a middy
 * chain: middy takes a streamed response as one readable stream, which would settle before the last byte and could not
 * tell that the client has left (docs/decisions/0042).
 */
export function handlerChain(
  { operation, query, bodyBytesMax, takesIdempotencyKey }: ServedRoute,
  { key, unknownFields }: Steps = {},
) {
  const chain = middy<ApiEvent, ApiResult>()
  const allowed = allowedOrigins()
  if (allowed.length > 0) {
    chain.use(crossOrigin(allowed))
  }
  chain.use(requestLog(operation)).use(errorResponse())
  if (key !== undefined) {
    chain.use(authenticate(key.lookUp)).use(limitRate(key.limiter))
  }
  if (bodyBytesMax !== undefined) {
    chain.use(jsonBody({ bytesMax: bodyBytesMax }))
  }
  return query === undefined ? chain : chain.use(strictHandling({ query, takesIdempotencyKey, unknownFields }))
}

/**
 * What an operation does with a request that its chain has let pass. Its body is typed by the schema that the route names; JSON text is for a
 * body with a reply of an upstream, whose fields keep their bytes.
 */
export type Run<Output extends OutputName> = (event: ApiEvent, context: Context) => Promise<OutputOf<Output> | string>

/** Responds with the success of a route. */
export function responding<Output extends OutputName>(
  { successStatus }: { readonly successStatus: number },
  run: Run<Output>,
) {
  return async (event: ApiEvent, context: Context): Promise<ApiResult> => {
    const body = await run(event, context)
    return jsonResult(successStatus, typeof body === 'string' ? body : JSON.stringify(body))
  }
}
