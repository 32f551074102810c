import type { AdminOperation } from '#middleware/admin-chain.ts'
import { actorOf, sessionOf } from '#middleware/admin-event.ts'
import { currentSite } from '#middleware/admin-gate.ts'
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
