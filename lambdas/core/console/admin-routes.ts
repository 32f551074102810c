import { matchPath } from '../contract/routes.ts'
import type { AdminFunction, AdminRoute, AdminRow } from './admin-route.ts'
import { READ_ROUTES } from './read-routes.ts'
import { SIGN_IN_ROUTES } from './sign-in-routes.ts'
import { WRITE_ROUTES } from './write-routes.ts'

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

/** The methods of a concrete path; empty for an unknown one. */
export function adminMethods(path: string): readonly string[] {
  return ADMIN_ROUTES.filter((route) => matchPath(route.path, path) !== undefined).map(({ method }) => method)
}
