import { SignInRefusedError } from '#core/admin/errors.ts'
import { SESSION_MILLISECONDS, sessionView } from '#core/admin/session.ts'
import { createSessionRequest } from '#core/admin/sign-in.ts'
import { parseBody } from '#core/api/request-issues.ts'
import { type AdminOperation, currentSite } from '#middleware/admin-chain.ts'
import { findSignInLink, findUserOfKey, openSession, type SignedInUser } from '#store/sessions/sessions.ts'
import { ConditionsNotMetError, type NamedWrites } from '#store/table/table.ts'
import { beginSignIn, countSignIn } from './begin-sign-in.ts'
import { sessionCookie } from './session-cookie.ts'
import type { SignInContext } from './sign-in-context.ts'

/** A user, and what must hold when the session is opened. */
type Admitted = { readonly user: SignedInUser; readonly alongside?: NamedWrites }

/** POST /admin/v1/session: signs in with a key or a one-time link. Every key or link that does not sign in gets one response. */
export function createSession({ table: openTable, environment }: SignInContext): AdminOperation {
  return async (event) => {
    const shown = parseBody(createSessionRequest, event.json)
    const [table, site, now] = [openTable(), currentSite(environment), Date.now()]
    const attempt = await beginSignIn(table, event, now)
    const admitted = 'key' in shown ? await admitKey(shown.key) : await admitLink(shown.link)
    if (admitted !== undefined) {
      await countSignIn(table, attempt, { holder: admitted.user.holder, nowMilliseconds: now })
    }
    const opened = admitted && (await open(admitted))
    if (opened === undefined) {
      await attempt.recordRefusal('key' in shown ? 'this key does not sign in' : 'this link does not sign in')
      throw new SignInRefusedError()
    }
    await attempt.succeed()
    const { session, token, pageSecret } = opened
    const maxAgeSeconds = Math.trunc(SESSION_MILLISECONDS / 1000)
    return { body: sessionView(session, pageSecret), cookies: [sessionCookie(event, site, { token, maxAgeSeconds })] }

    async function admitKey(key: string): Promise<Admitted | undefined> {
      const user = await findUserOfKey(table, key, now)
      return user === undefined ? undefined : { user }
    }

    /** Links exist on loopback alone: on AWS nobody can tell who sees the terminal. */
    async function admitLink(secret: string): Promise<Admitted | undefined> {
      const link = site.isLoopback ? await findSignInLink(table, secret, now) : undefined
      if (link === undefined) {
        return undefined
      }
      const { actor, use } = link
      const user = { kind: 'local', actor, role: 'owner', tenant: null, keyId: null, holder: 'local' } as const
      return { user, alongside: use }
    }

    /** Undefined when another sign-in has used the link meanwhile. */
    async function open({ user, alongside = {} }: Admitted) {
      const { requestId } = event.requestContext
      try {
        return await openSession(table, user, {
          hasPageSecret: site.isLoopback,
          requestId,
          nowMilliseconds: now,
          alongside,
        })
      } catch (error) {
        if (error instanceof ConditionsNotMetError) {
          return undefined
        }
        throw error
      }
    }
  }
}
