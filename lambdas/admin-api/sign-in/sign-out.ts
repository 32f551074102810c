import { type AdminOperation, actorOf, currentSite, sessionOf } from '#middleware/admin-chain.ts'
import { endSession } from '#store/sessions/sessions.ts'
import { noSessionCookie } from './session-cookie.ts'
import type { SignInContext } from './sign-in-context.ts'

/** DELETE /admin/v1/session: signs out. */
export function signOut({ table, environment }: SignInContext): AdminOperation {
  return async (event) => {
    const { id, holder } = sessionOf(event)
    await endSession(table(), id, { actor: actorOf(event), holder })
    return { cookies: [noSessionCookie(event, currentSite(environment))] }
  }
}
