import { readPageLimit } from '#core/admin/page-query.ts'
import { isSessionId, sessionRow, visibleHolder } from '#core/admin/session.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { type AdminOperation, sessionOf } from '#middleware/admin-chain.ts'
import { listSessions as list } from '#store/sessions/sessions.ts'
import type { SignInContext } from './sign-in-context.ts'

/** GET /admin/v1/sessions: the user's own sessions, or all of them for owners. */
export function listSessions({ table }: SignInContext): AdminOperation {
  return async (event) => {
    const session = sessionOf(event)
    const query = event.queryStringParameters ?? {}
    const now = Date.now()
    const { sessions, next } = await list(table(), {
      limit: readPageLimit(query),
      after: readAfter(query.after),
      holder: visibleHolder(session),
      nowMilliseconds: now,
    })
    const data = sessions.map((each) => sessionRow(each, session.id))
    const as_of = Math.trunc(now / 1000)
    return { body: { object: 'list', data, has_more: next !== undefined, next: next ?? null, as_of } }
  }
}

/** @throws InvalidRequestError for a string that is no id of a session. */
function readAfter(after: string | undefined): string | undefined {
  if (after !== undefined && !isSessionId(after)) {
    throw new InvalidRequestError([{ path: 'after', message: '`after` must be `next` of the page before' }])
  }
  return after
}
