import type { Context } from 'aws-lambda'
import type { ApiEvent, ApiResult } from '#middleware/api-event.ts'
import type { Route } from '#routes/define-route.ts'
import { ROUTES } from '#routes/index.ts'

type Handler = (event: ApiEvent, context: Context) => Promise<ApiResult>

/** The route of an operation. @throws RangeError for a name that is none. */
export function routeOf(operation: string): Route {
  const route = ROUTES.find((each) => each.operation === operation)
  if (route === undefined) {
    throw new RangeError(`no operation ${operation}`)
  }
  return route
}

/** The handler of the function that has an operation, called as API Gateway would for it. */
export async function loadRoute(operation: string): Promise<Handler> {
  const { method, path, function: folder } = routeOf(operation)
  const { handler }: { handler: Handler } = await import(`#lambdas/api/${folder}/handler.ts`)
  return (event, context) => handler({ ...event, httpMethod: method, resource: path }, context)
}
