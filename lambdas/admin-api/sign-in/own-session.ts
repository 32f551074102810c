import { endSession, endSessionsOf, markSessionSeen } from '#adapters/store/console/sessions.ts'
import { isDueToBeSeen } from '#core/console/session.ts'
import { sessionView } from '#core/console/session-view.ts'
import type { AdminOperation } from '#middleware/admin-chain.ts'
import { actorOf, sessionOf } from '#middleware/admin-event.ts'
import { currentSite } from '#middleware/admin-gate.ts'
import { noSessionCookie } from './session-cookie.ts'
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

/** DELETE /admin/v1/session: signs out. */
export function signOut({ table, environment }: SignInContext): AdminOperation {
  return async (event) => {
    const { id, holder } = sessionOf(event)
    await endSession(table(), id, { actor: actorOf(event), holder })
    return { cookies: [noSessionCookie(event, currentSite(environment))] }
  }
}

/** DELETE /admin/v1/sessions: signs the user out everywhere. */
export function signOutEverywhere({ table, environment }: SignInContext): AdminOperation {
  return async (event) => {
    await endSessionsOf(table(), sessionOf(event).holder, actorOf(event))
    return { cookies: [noSessionCookie(event, currentSite(environment))] }
  }
}
