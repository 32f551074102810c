import { adminHandler } from '#middleware/admin-chain.ts'
import { createSession } from './create-session.ts'
import { endSession } from './end-session.ts'
import { finishOidc } from './finish-oidc.ts'
import { getSession } from './get-session.ts'
import { getSignIn } from './get-sign-in.ts'
import { listSessions } from './list-sessions.ts'
import type { SignInContext } from './sign-in-context.ts'
import { signOut } from './sign-out.ts'
import { signOutEverywhere } from './sign-out-everywhere.ts'
import { startOidc } from './start-oidc.ts'

/** The handler of every operation that makes or ends sessions of the console. */
export function signInHandler(context: SignInContext) {
  return adminHandler(
    'sign-in',
    {
      'get-sign-in': getSignIn(context),
      'create-session': createSession(context),
      'get-session': getSession(context),
      'sign-out': signOut(context),
      'list-sessions': listSessions(context),
      'sign-out-everywhere': signOutEverywhere(context),
      'end-session': endSession(context),
      'start-oidc': startOidc(context),
      'finish-oidc': finishOidc(context),
    },
    { openTable: context.table },
  )
}
