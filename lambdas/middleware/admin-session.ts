import { type ConsoleSite, cookieValues, sessionCookieName } from '#core/admin/console-site.ts'
import { ForbiddenError, NotSignedInError } from '#core/admin/errors.ts'
import type { AdminRoute } from '#core/admin/routes.ts'
import { mayAccess } from '#core/admin/session.ts'
import { type FoundSession, findSession } from '#store/sessions/find-session.ts'
import type { Table } from '#store/table/table.ts'
import { type ApiEvent, headerLinesOf, headerOf } from './api-event.ts'

/** The header with the secret that the page holds on loopback. */
const PAGE_HEADER = 'x-reelgate-page'

type AskedRoute = Pick<AdminRoute, 'access' | 'readsTenant'>

type SessionContext = { readonly site: ConsoleSite; readonly table: () => Pick<Table, 'readItems'> }

/**
 * Finds the session of a request, with the tenant that the page is about, and checks that its role may call the operation.
 * @throws NotSignedInError without a valid session; ForbiddenError for a role that may not call it.
 */
export async function requireSession(
  event: ApiEvent,
  { access, readsTenant }: AskedRoute,
  context: SessionContext,
): Promise<FoundSession> {
  const tenantId = readsTenant ? event.queryStringParameters?.tenant : undefined
  const found = await readSession(event, tenantId, context)
  if (found === undefined) {
    throw new NotSignedInError()
  }
  const { session } = found
  if (!mayAccess(session.role, access)) {
    throw new ForbiddenError(`this needs the role ${access}, and this session has the role ${session.role}`)
  }
  return found
}

/** Two cookies of one name are none: another site of the same domain may have set one of them. */
async function readSession(
  event: ApiEvent,
  tenantId: string | undefined,
  { site, table }: SessionContext,
): Promise<FoundSession | undefined> {
  const name = sessionCookieName(site, headerOf(event, 'host'))
  const [token, ...others] = cookieValues(headerLinesOf(event, 'cookie'), name)
  if (token === undefined || others.length > 0) {
    return undefined
  }
  const pageSecret = headerOf(event, PAGE_HEADER)
  return await findSession(table(), { token, pageSecret, nowMilliseconds: Date.now(), tenantId })
}
