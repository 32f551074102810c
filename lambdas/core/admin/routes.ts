import { matchPath } from '../api/paths.ts'
import type { Access } from '../roles.ts'

const READ_ERRORS = [400, 401, 403, 404, 429, 500, 503] as const

/** Operations of the function that shows things and writes nothing. */
export const READ_ROUTES = [
  {
    operation: 'list-videos',
    method: 'GET',
    path: '/admin/v1/videos',
    access: 'tenant',
    successStatus: 200,
    errorStatuses: READ_ERRORS,
    query: ['tenant', 'status', 'model', 'created_after', 'created_before', 'after', 'limit'],
    readsTenant: true,
  },
  {
    operation: 'get-video',
    method: 'GET',
    path: '/admin/v1/videos/{job_id}',
    access: 'tenant',
    successStatus: 200,
    errorStatuses: READ_ERRORS,
    query: ['tenant'],
  },
] as const satisfies readonly AdminRow[]

const SESSION_ERRORS = [400, 401, 403, 404, 500, 503] as const

/** Operations of the function that makes and ends sessions. */
export const SIGN_IN_ROUTES = [
  {
    operation: 'get-sign-in',
    method: 'GET',
    path: '/admin/v1/sign-in',
    access: 'public',
    successStatus: 200,
    errorStatuses: [400, 403, 404, 500],
  },
  {
    operation: 'create-session',
    method: 'POST',
    path: '/admin/v1/session',
    access: 'public',
    successStatus: 200,
    errorStatuses: [400, 401, 403, 404, 413, 429, 500, 503],
  },
  {
    operation: 'get-session',
    method: 'GET',
    path: '/admin/v1/session',
    access: 'everyone',
    successStatus: 200,
    errorStatuses: SESSION_ERRORS,
  },
  {
    operation: 'switch-session',
    method: 'PATCH',
    path: '/admin/v1/session',
    access: 'everyone',
    successStatus: 200,
    errorStatuses: [400, 401, 403, 404, 413, 500, 503],
  },
  {
    operation: 'sign-out',
    method: 'DELETE',
    path: '/admin/v1/session',
    access: 'everyone',
    successStatus: 204,
    errorStatuses: SESSION_ERRORS,
  },
  {
    operation: 'list-sessions',
    method: 'GET',
    path: '/admin/v1/sessions',
    access: 'everyone',
    successStatus: 200,
    errorStatuses: SESSION_ERRORS,
    query: ['limit', 'after'],
  },
  {
    operation: 'sign-out-everywhere',
    method: 'DELETE',
    path: '/admin/v1/sessions',
    access: 'everyone',
    successStatus: 204,
    errorStatuses: SESSION_ERRORS,
  },
  {
    operation: 'end-session',
    method: 'DELETE',
    path: '/admin/v1/sessions/{session_id}',
    access: 'everyone',
    successStatus: 204,
    errorStatuses: SESSION_ERRORS,
  },
  {
    operation: 'start-oidc',
    method: 'GET',
    path: '/admin/v1/oidc/start',
    access: 'public',
    successStatus: 302,
    errorStatuses: [400, 403, 404, 500, 502, 503],
    query: ['to'],
  },
  {
    operation: 'finish-oidc',
    method: 'GET',
    path: '/admin/v1/oidc/callback',
    access: 'public',
    successStatus: 200,
    errorStatuses: [400, 403, 404, 429, 500, 502, 503],
    query: ['code', 'state', 'iss', 'error', 'error_description'],
    isQueryOpen: true,
  },
] as const satisfies readonly AdminRow[]

const WRITE_ERRORS = [400, 401, 403, 404, 409, 413, 429, 500, 503] as const

/** These operations cannot conflict, so they have no 409. */
const ERRORS_WITHOUT_CONFLICT = [400, 401, 403, 404, 413, 429, 500, 503] as const

/** Operations of the function that changes things. */
export const WRITE_ROUTES = [
  {
    operation: 'cancel-video',
    method: 'POST',
    path: '/admin/v1/videos/{job_id}/cancellation',
    access: 'owner',
    successStatus: 200,
    errorStatuses: WRITE_ERRORS,
    query: ['tenant'],
  },
  {
    operation: 'redrive-video',
    method: 'POST',
    path: '/admin/v1/videos/{job_id}/redrive',
    access: 'owner',
    successStatus: 200,
    errorStatuses: WRITE_ERRORS,
    query: ['tenant'],
  },
  {
    operation: 'resend-callback',
    method: 'POST',
    path: '/admin/v1/videos/{job_id}/callback',
    access: 'tenant-admin',
    successStatus: 200,
    errorStatuses: WRITE_ERRORS,
    query: ['tenant'],
  },
  {
    operation: 'delete-video',
    method: 'DELETE',
    path: '/admin/v1/videos/{job_id}',
    access: 'owner',
    successStatus: 204,
    errorStatuses: ERRORS_WITHOUT_CONFLICT,
    query: ['tenant'],
  },
] as const satisfies readonly AdminRow[]

const ROWS = { 'sign-in': SIGN_IN_ROUTES, read: READ_ROUTES, write: WRITE_ROUTES } as const satisfies Readonly<
  Record<AdminFunction, readonly AdminRow[]>
>

/** Name of an operation of one function, such as `create-session` of `sign-in`. */
export type AdminOperationOf<Name extends AdminFunction> = (typeof ROWS)[Name][number]['operation']

/**
 * Every operation of the admin API. Its functions, the local host, the front door and the document of the admin API read this
 * table.
 */
export const ADMIN_ROUTES: readonly AdminRoute[] = [
  ...routesOf('sign-in', ROWS['sign-in']),
  ...routesOf('read', ROWS.read),
  ...routesOf('write', ROWS.write),
]

function routesOf(name: AdminFunction, rows: readonly AdminRow[]): AdminRoute[] {
  return rows.map((row) => ({ ...row, function: name }))
}

/** An operation with the percent-decoded parameters of a concrete path. */
export type RoutedAdminRequest = { readonly route: AdminRoute; readonly parameters: Readonly<Record<string, string>> }

/** The operation of a method and a concrete path; undefined if there is none. */
export function routeAdminRequest(method: string, path: string): RoutedAdminRequest | undefined {
  for (const route of ADMIN_ROUTES) {
    const parameters = route.method === method ? matchPath(route.path, path) : undefined
    if (parameters !== undefined) {
      return { route, parameters }
    }
  }
  return undefined
}

/** The functions of the admin API, each with a role of its own on AWS. */
export type AdminFunction = 'sign-in' | 'read' | 'write'

/** One operation of the admin API, as the file of its function lists it. */
export type AdminRow = {
  /** Also the file of the operation in the folder of its function. */
  readonly operation: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** API Gateway notation: `{name}` is a path parameter. */
  readonly path: string
  readonly access: Access
  readonly successStatus: number
  /** 404 is on every row: requests that do not come through the front door get it. */
  readonly errorStatuses: readonly number[]
  /** Names of its query parameters; all others are a 400. */
  readonly query?: readonly string[]
  /** The tenant that `tenant` names is read in the same request to the table as the session. */
  readonly readsTenant?: true
  /** Is for pages of the console alone: an admin key cannot call it. */
  readonly needsSession?: true
  /** Takes other query parameters too, and ignores them: an OpenID provider adds its own. */
  readonly isQueryOpen?: true
}

/** One operation of the admin API with its function. */
export type AdminRoute = AdminRow & { readonly function: AdminFunction }
