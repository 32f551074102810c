import middy from '@middy/core'
import type { Context } from 'aws-lambda'
import { once } from '#adapters/once.ts'
import {
  ADMIN_ROUTES,
  type AdminFunction,
  type AdminOperationOf,
  type AdminRoute,
  adminMethods,
  routeAdminRequest,
} from '#core/admin/routes.ts'
import { MethodNotAllowedError, RouteNotFoundError } from '#core/errors.ts'
import { openTable } from '#store/table/sdk-table.ts'
import type { Table } from '#store/table/table.ts'
import type { AdminResponse } from './admin-event.ts'
import { currentSite, requireFrontDoor, requireSameSite } from './admin-gate.ts'
import { checkQuery, readAdminBody } from './admin-input.ts'
import { requireSession } from './admin-session.ts'
import type { ApiEvent, ApiResult } from './api-event.ts'
import { countedFailures } from './counted-failures.ts'
import { errorResponse } from './error-response.ts'
import { neverStored } from './never-stored.ts'
import { requestIdOf, requestLog } from './request-log.ts'

/** Serves one operation of the admin API. */
export type AdminOperation = (event: ApiEvent, context: Context) => Promise<AdminResponse>

/** Every operation of a function. A new row of its routes does not compile without one. */
type AdminOperations<Name extends AdminFunction> = Readonly<Record<AdminOperationOf<Name>, AdminOperation>>

/** What a function takes from outside. */
type AdminContext = { readonly openTable?: () => Pick<Table, 'readItems'> }

type Handler = (event: ApiEvent, context: Context) => Promise<ApiResult>

/**
 * The handler of one function of the admin API, which finds the operation of each request in ADMIN_ROUTES. What wraps every
 * operation, from the outside in:
 *
 * 1. `countedFailures` counts internal errors, for the alarm of the console;
 * 2. `neverStored` keeps the response out of every cache;
 * 3. `requestLog` writes the one log line, and the headers of every response;
 * 4. `errorResponse` turns whatever is thrown into a status and a body;
 * 5. requests that did not come through the front door get a 404;
 * 6. requests that a page of another site may have sent get a 403, before a cookie is looked at;
 * 7. the session is read, unless the operation is public, and its role compared with the operation's;
 * 8. unknown query parameters are refused, and the body is parsed;
 * 9. the operation responds.
 */
export function adminHandler<Name extends AdminFunction>(
  name: Name,
  operations: AdminOperations<Name>,
  { openTable: open = once(openTable) }: AdminContext = {},
): Handler {
  const site = once(currentSite)
  const serve = new Map<string, AdminOperation>(Object.entries(operations))
  const chains = new Map(
    ADMIN_ROUTES.flatMap((route) => {
      const operation = route.function === name ? serve.get(route.operation) : undefined
      return operation === undefined
        ? []
        : [[route.operation, chain(route.operation).handler(served(route, operation))] as const]
    }),
  )
  const nowhere = chain(`${name}-fallback`).handler(refuse)
  return async (event, context) => {
    const routed = routeAdminRequest(event.httpMethod, event.path)
    const handle = routed === undefined ? undefined : chains.get(routed.route.operation)
    return handle === undefined
      ? await nowhere(event, context)
      : await handle({ ...withSafeId(event, context), pathParameters: { ...routed?.parameters } }, context)
  }

  function served(route: AdminRoute, operation: AdminOperation): Handler {
    return async (event, context) => {
      await requireFrontDoor(event)
      requireSameSite(event, site())
      if (route.access !== 'public') {
        const found = await requireSession(event, route, { site: site(), table: open })
        event.session = found.session
        event.askedTenant = found.tenant
      }
      checkQuery(event, route)
      event.json = await readAdminBody(event)
      return resultOf(await operation(event, context), route)
    }
  }
}

/** Log and audit use the id of the response. An id of the client that is no token is replaced. */
function withSafeId(event: ApiEvent, context: Context): ApiEvent {
  return { ...event, requestContext: { ...event.requestContext, requestId: requestIdOf(event, context) } }
}

function chain(operation: string) {
  return middy<ApiEvent, ApiResult>()
    .use(countedFailures('console_failed'))
    .use(neverStored())
    .use(requestLog(operation))
    .use(errorResponse())
}

/** @throws RouteNotFoundError, MethodNotAllowedError. */
async function refuse(event: ApiEvent): Promise<ApiResult> {
  await requireFrontDoor(event)
  const methods = adminMethods(event.path)
  throw methods.length === 0 ? new RouteNotFoundError() : new MethodNotAllowedError(methods)
}

function resultOf(
  { status, body, headers = {}, cookies = [] }: AdminResponse,
  { successStatus }: AdminRoute,
): ApiResult {
  const type = typeof body === 'object' ? { 'content-type': 'application/json' } : {}
  return {
    statusCode: status ?? successStatus,
    headers: { ...type, ...headers },
    ...(cookies.length === 0 ? {} : { multiValueHeaders: { 'set-cookie': [...cookies] } }),
    body: typeof body === 'object' ? JSON.stringify(body) : (body ?? ''),
  }
}
