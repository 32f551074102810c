import { ADMIN_ROUTES, type AdminRoute } from '#core/admin/routes.ts'
import { routeOf } from './operation.ts'
import { READS } from './reads.ts'
import { WRITES } from './writes.ts'

/** The row of every operation, for the document and for tests. Functions on AWS have their own rows alone. */
export const ALL_ADMIN_ROUTES: readonly AdminRoute[] = [...ADMIN_ROUTES, ...[...READS, ...WRITES].map(routeOf)]
