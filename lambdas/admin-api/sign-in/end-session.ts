import { SessionNotFoundError } from '#core/admin/errors.ts'
import { isSessionId, visibleHolder } from '#core/admin/session.ts'
import { type AdminOperation, actorOf, sessionOf } from '#middleware/admin-chain.ts'
import { endSession as end } from '#store/sessions/sessions.ts'
import type { SignInContext } from './sign-in-context.ts'

/** DELETE /admin/v1/sessions/{session_id}: ends one of the sessions that the user may see. */
export function endSession({ table }: SignInContext): AdminOperation {
  return async (event) => {
    const id = event.pathParameters?.session_id ?? ''
    const ending = { actor: actorOf(event), holder: visibleHolder(sessionOf(event)) }
    if (!isSessionId(id) || !(await end(table(), id, ending))) {
      throw new SessionNotFoundError()
    }
    return {}
  }
}
