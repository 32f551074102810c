import { endSession, listSessions } from '#adapters/store/console/sessions.ts'
import type { Session } from '#core/console/session.ts'
import { SessionNotFoundError } from '#core/console/session-errors.ts'
import { sessionRow } from '#core/console/session-view.ts'
import { InvalidRequestError } from '#core/errors.ts'
import type { AdminOperation } from '#middleware/admin-chain.ts'
import { actorOf, sessionOf } from '#middleware/admin-event.ts'
import type { SignInContext } from './sign-in-context.ts'

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200

const SESSION_ID = /^[0-9A-Za-z]{16}$/

/** GET /admin/v1/sessions: the user's own sessions, or all of them for owners. */
export function listOfSessions({ table }: SignInContext): AdminOperation {
  return async (event) => {
    const session = sessionOf(event)
    const now = Date.now()
    const { sessions, next } = await listSessions(table(), {
      ...readPage(event.queryStringParameters ?? {}),
      holder: visibleHolder(session),
      nowMilliseconds: now,
    })
    const data = sessions.map((each) => sessionRow(each, session.id))
    const as_of = Math.trunc(now / 1000)
    return { body: { object: 'list', data, has_more: next !== undefined, next: next ?? null, as_of } }
  }
}

/** DELETE /admin/v1/sessions/{session_id}: ends one of the sessions that the user may see. */
export function endOneSession({ table }: SignInContext): AdminOperation {
  return async (event) => {
    const id = event.pathParameters?.session_id ?? ''
    const ending = { actor: actorOf(event), holder: visibleHolder(sessionOf(event)) }
    if (!SESSION_ID.test(id) || !(await endSession(table(), id, ending))) {
      throw new SessionNotFoundError()
    }
    return {}
  }
}

function visibleHolder({ role, holder }: Session): string | undefined {
  return role === 'owner' ? undefined : holder
}

/** @throws InvalidRequestError naming the parameter. */
function readPage({ limit = String(LIMIT_DEFAULT), after }: Record<string, string | undefined>) {
  const count = /^\d{1,3}$/.test(limit) ? Number(limit) : 0
  if (count < 1 || count > LIMIT_MAX) {
    throw invalid('limit', `limit must be a whole number from 1 to ${LIMIT_MAX}`)
  }
  if (after !== undefined && !SESSION_ID.test(after)) {
    throw invalid('after', 'after must be the `next` of an earlier response')
  }
  return { limit: count, after }
}

function invalid(path: string, message: string): InvalidRequestError {
  return new InvalidRequestError([{ path, message }])
}
