import { isDueToBeSeen, sessionView } from '#core/admin/session.ts'
import { type AdminOperation, sessionOf } from '#middleware/admin-chain.ts'
import { markSessionSeen } from '#store/sessions/sessions.ts'
import type { SignInContext } from './sign-in-context.ts'

/** GET /admin/v1/session: who is signed in. Notes that the session is in use, at most every five minutes. */
export function getSession({ table }: SignInContext): AdminOperation {
  return async (event) => {
    const session = sessionOf(event)
    const now = Date.now()
    if (isDueToBeSeen(session, now)) {
      await markSessionSeen(table(), session, now)
    }
    return { body: sessionView(session) }
  }
}
