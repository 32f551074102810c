import { adminHandler } from '#middleware/admin-chain.ts'
import { finishOidc, startOidc } from './oidc.ts'
import {
  createSession,
  endSession,
  getSession,
  getSignIn,
  listSessions,
  type SignInContext,
  signOut,
  signOutEverywhere,
} from './sessions.ts'

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
