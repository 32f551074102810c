import { once } from '#adapters/once.ts'
import { type AdminFunction, routeAdminRequest } from '#core/admin/routes.ts'
import { matchPath, methodsOf, ROUTES, type Route } from '#core/api/routes.ts'
import { FUNCTION_TIMEOUT_SECONDS } from '../config/platform-facts.ts'
import type { LocalFunction } from './lambda-runtime.ts'

/** One method of one resource in API Gateway. */
type Endpoint = {
  /** The path template. */
  readonly resource: string
  readonly target: LocalFunction
  readonly streams: boolean
  /** Whether a request without a valid key is refused, whatever its body. */
  readonly takesKey?: boolean
}

/** The endpoint of a request, with the parameters of its path. */
export type RoutedRequest = Endpoint & { readonly pathParameters: Record<string, string> | null }

const ENDPOINTS = ROUTES.flatMap((route: Route) => {
  const endpoint = endpointOf(route)
  return methodsOf(route).map((method) => ({ method, endpoint }))
})

/** Endpoints without path parameters, by method and path. */
const FIXED: ReadonlyMap<string, RoutedRequest> = new Map(
  ENDPOINTS.filter(({ endpoint }) => !endpoint.resource.includes('{')).map(({ method, endpoint }) => [
    `${method} ${endpoint.resource}`,
    { ...endpoint, pathParameters: null },
  ]),
)

const VARIABLE = ENDPOINTS.filter(({ endpoint }) => endpoint.resource.includes('{'))

const FALLBACK: Endpoint = { resource: '/{proxy+}', target: apiFunction('fallback', false), streams: false }

const ADMIN_PREFIX = '/admin/v1/'

const ADMIN: Readonly<Record<AdminFunction, Endpoint>> = {
  'sign-in': adminEndpoint('sign-in'),
  read: adminEndpoint('read'),
  write: adminEndpoint('write'),
}

function adminEndpoint(name: AdminFunction): Endpoint {
  const target = {
    name: `admin-${name}`,
    timeoutSeconds: FUNCTION_TIMEOUT_SECONDS.api,
    load: once(() => import(`#lambdas/admin-api/${name}/handler.ts`)),
  }
  return { resource: `${ADMIN_PREFIX}{proxy+}`, target, streams: false }
}

function endpointOf({ operation, path, streams, isPublic }: Route): Endpoint {
  const target = apiFunction(operation, streams === true)
  return { resource: path, target, streams: streams === true, takesKey: isPublic !== true }
}

function apiFunction(operation: string, streams: boolean): LocalFunction {
  return {
    name: operation,
    timeoutSeconds: FUNCTION_TIMEOUT_SECONDS[streams ? 'relay' : 'api'],
    load: once(() => import(`#lambdas/api/${operation}/handler.ts`)),
  }
}

/** Finds the function of a route as API Gateway would, or the fallback for unknown paths and methods. */
export function routeRequest(method: string, path: string): RoutedRequest {
  const fixed = FIXED.get(`${method} ${path}`)
  if (fixed !== undefined) {
    return fixed
  }
  if (path.startsWith(ADMIN_PREFIX)) {
    return routeToAdmin(method, path)
  }
  for (const each of VARIABLE) {
    const pathParameters = each.method === method ? matchPath(each.endpoint.resource, path) : undefined
    if (pathParameters !== undefined) {
      return { ...each.endpoint, pathParameters }
    }
  }
  return { ...FALLBACK, pathParameters: { proxy: path.slice(1) } }
}

/** Paths and methods without an operation go where their method goes: GET to `read`, all others to `write`. */
function routeToAdmin(method: string, path: string): RoutedRequest {
  const name = routeAdminRequest(method, path)?.route.function ?? (method === 'GET' ? 'read' : 'write')
  return { ...ADMIN[name], pathParameters: { proxy: path.slice(ADMIN_PREFIX.length) } }
}

/** Loads every handler of the API, so that no first request pays for it. */
export async function loadApiHandlers(): Promise<void> {
  const endpoints = [...ENDPOINTS.map(({ endpoint }) => endpoint), ...Object.values(ADMIN), FALLBACK]
  await Promise.all(endpoints.map(({ target }) => target.load()))
}
