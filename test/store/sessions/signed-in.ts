import type { SignedInUser } from '#store/sessions/sessions.ts'

/** A user of a test. */
export const ADA: SignedInUser = {
  kind: 'oidc',
  actor: 'ada',
  role: 'viewer',
  tenant: null,
  keyId: null,
  holder: 'oidc:ada',
}

/** How a session of a test is opened. */
export const OPENING = { hasPageSecret: false, requestId: 'request-1', nowMilliseconds: 1_800_000_000_000 }
