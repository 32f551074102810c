import { matchPath } from '../core/api/paths.ts'
import { ACCOUNT_ROUTES } from './account.ts'
import { methodsOf } from './define-route.ts'
import { MODEL_ROUTES } from './models.ts'
import { RELAYED_ROUTES } from './relayed.ts'
import { SERVICE_ROUTES } from './service.ts'
import { VIDEO_ROUTES } from './video-jobs.ts'

/** Every operation of the client API, in the order of the OpenAPI document. */
export const ROUTES = [
  ...VIDEO_ROUTES,
  ...MODEL_ROUTES,
  ...RELAYED_ROUTES,
  ...ACCOUNT_ROUTES,
  ...SERVICE_ROUTES,
] as const

/** Name of an operation, such as `create-video-job`. */
export type Operation = (typeof ROUTES)[number]['operation']

/** Every route, such as `GET /v1/models`. */
export const SERVED: readonly string[] = ROUTES.map(({ method, path }) => `${method} ${path}`)

/** The methods of a concrete path; empty for an unknown one. */
export function allowedMethods(path: string): readonly string[] {
  return ROUTES.filter((route) => matchPath(route.path, path) !== undefined).flatMap(methodsOf)
}
