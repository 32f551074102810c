import { type AdminOperationOf, SIGN_IN_ROUTES } from '#core/admin/routes.ts'
import { type AdminOperation, adminHandler } from '#middleware/admin-chain.ts'
import {
  createSession,
  endSession,
  getSession,
  getSignIn,
  listSessions,
  type SignInContext,
  signOut,
  signOutEverywhere,
  switchSession,
} from './sessions.ts'

/** The handler of every operation that makes or ends sessions of the console. */
export function signInHandler(context: SignInContext) {
  const serve: Record<AdminOperationOf<'sign-in'>, AdminOperation> = {
    'get-sign-in': getSignIn(context),
    'create-session': createSession(context),
    'get-session': getSession(context),
    'switch-session': switchSession(context),
    'sign-out': signOut(context),
    'list-sessions': listSessions(context),
    'sign-out-everywhere': signOutEverywhere(context),
    'end-session': endSession(context),
    // Loaded when somebody first signs in at a provider: no other operation needs its client.
    'start-oidc': async (...request) => (await import('./oidc.ts')).startOidc(context)(...request),
    'finish-oidc': async (...request) => (await import('./oidc.ts')).finishOidc(context)(...request),
  }
  const rows = SIGN_IN_ROUTES.map((row) => ({ ...row, function: 'sign-in' as const, serve: serve[row.operation] }))
  return adminHandler('sign-in', rows, { openTable: context.table })
}
