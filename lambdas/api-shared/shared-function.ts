import type { Context } from 'aws-lambda'
import { methodsOf, type Operation, ROUTES } from '#core/api/routes.ts'
import type { ApiEvent, ApiResult } from '#middleware/api-event.ts'
import { handler as fallback } from '../api/fallback/handler.ts'

type Handler = (event: ApiEvent, context: Context) => Promise<ApiResult>

/**
 * One function for several operations: each event goes to the handler of its method and resource, and everything else, such as the preflight of
 * a browser, to the fallback.
 */
export function sharedFunction(handlers: Partial<Readonly<Record<Operation, Handler>>>): Handler {
  const byMethod = new Map<string, Handler | undefined>(
    ROUTES.flatMap((route) =>
      methodsOf(route).map((method) => [`${method} ${route.path}`, handlers[route.operation]] as const),
    ),
  )
  return (event, context) => (byMethod.get(`${event.httpMethod} ${event.resource}`) ?? fallback)(event, context)
}
