import { type AdminOperation, actorOf, currentSite, sessionOf } from '#middleware/admin-chain.ts'
import { endSessionsOf } from '#store/sessions/sessions.ts'
import { noSessionCookie } from './session-cookie.ts'
import type { SignInContext } from './sign-in-context.ts'

/** DELETE /admin/v1/sessions: signs the user out everywhere. */
export function signOutEverywhere({ table, environment }: SignInContext): AdminOperation {
  return async (event) => {
    await endSessionsOf(table(), sessionOf(event).holder, actorOf(event))
    return { cookies: [noSessionCookie(event, currentSite(environment))] }
  }
}
