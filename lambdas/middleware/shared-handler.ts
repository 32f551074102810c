import type { Context } from 'aws-lambda'
import { methodsOf, type Route } from '#routes/define-route.ts'
import type { ApiEvent, ApiResult } from './api-event.ts'

type Handler = (event: ApiEvent, context: Context) => Promise<ApiResult>

/**
 * One function for several operations: each event goes to the handler of its method and resource.
 * @param others serves every other event. By default there are none, because API Gateway has no other method for the function.
 */
export function sharedHandler(operations: readonly (readonly [Route, Handler])[], others: Handler = refuse): Handler {
  const byMethod = new Map<string, Handler>(
    operations.flatMap(([route, handler]) =>
      methodsOf(route).map((method) => [`${method} ${route.path}`, handler] as const),
    ),
  )
  return (event, context) => (byMethod.get(`${event.httpMethod} ${event.resource}`) ?? others)(event, context)
}

function refuse({ httpMethod, resource }: ApiEvent): never {
  throw new RangeError(`this function has no ${httpMethod} ${resource}`)
}
