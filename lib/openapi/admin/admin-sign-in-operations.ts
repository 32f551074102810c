import type { AdminOperationOf } from '#core/admin/routes.ts'
import type { AdminOperationDocument } from './admin-operation-document.ts'

/** The function that makes and ends sessions. A new row of its routes does not compile without a description here. */
export const ADMIN_SIGN_IN_OPERATIONS = {
  'get-sign-in': {
    summary: 'How to sign in',
    response: { description: 'The ways to sign in.', schema: 'SignIn' },
  },
  'create-session': {
    summary: 'Sign in',
    description:
      'With an admin key, an API key or the secret of a one-time link. The response sets the cookie. Ten failures of one address within a minute are followed by 429.',
    request: 'CreateSession',
    response: { description: 'The session.', schema: 'Session' },
  },
  'get-session': {
    summary: 'The session',
    description: 'Notes, at most every five minutes, that the session is in use.',
    response: { description: 'The session.', schema: 'Session' },
  },
  'sign-out': { summary: 'Sign out', response: { description: 'The session is ended.' } },
  'list-sessions': {
    summary: 'List sessions',
    description: 'Your own; owners see all.',
    response: { description: 'Sessions.', schema: 'SessionList' },
  },
  'sign-out-everywhere': {
    summary: 'End all your sessions',
    response: { description: 'The sessions are ended.' },
  },
  'end-session': {
    summary: 'End a session',
    description: 'Your own; owners may end every session.',
    response: { description: 'The session is ended.' },
  },
  'start-oidc': {
    summary: 'Sign in at an OpenID provider',
    response: { description: 'To the provider.' },
  },
  'finish-oidc': {
    summary: 'Where an OpenID provider sends the browser',
    response: { description: 'A page that goes on to the console.', schema: 'html' },
  },
} as const satisfies Readonly<Record<AdminOperationOf<'sign-in'>, AdminOperationDocument>>
