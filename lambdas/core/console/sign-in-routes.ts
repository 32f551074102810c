import type { AdminRow } from './admin-route.ts'

const READ_ERRORS = [400, 401, 403, 404, 500, 503] as const

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
    access: 'tenant',
    successStatus: 200,
    errorStatuses: READ_ERRORS,
  },
  {
    operation: 'sign-out',
    method: 'DELETE',
    path: '/admin/v1/session',
    access: 'tenant',
    successStatus: 204,
    errorStatuses: READ_ERRORS,
  },
  {
    operation: 'list-sessions',
    method: 'GET',
    path: '/admin/v1/sessions',
    access: 'tenant',
    successStatus: 200,
    errorStatuses: READ_ERRORS,
    query: ['limit', 'after'],
  },
  {
    operation: 'sign-out-everywhere',
    method: 'DELETE',
    path: '/admin/v1/sessions',
    access: 'tenant',
    successStatus: 204,
    errorStatuses: READ_ERRORS,
  },
  {
    operation: 'end-session',
    method: 'DELETE',
    path: '/admin/v1/sessions/{session_id}',
    access: 'tenant',
    successStatus: 204,
    errorStatuses: READ_ERRORS,
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
