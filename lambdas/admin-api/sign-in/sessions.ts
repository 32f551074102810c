import { type ConsoleSite, sessionCookieName, setCookie } from '#core/admin/console-site.ts'
import {
  ForbiddenError,
  HolderRateExceededError,
  NotSignedInError,
  SessionNotFoundError,
  SignInRefusedError,
  TooManySignInsError,
} from '#core/admin/errors.ts'
import { readPageLimit } from '#core/admin/page-query.ts'
import {
  isDueToBeSeen,
  isSessionId,
  SESSION_MILLISECONDS,
  sessionRow,
  sessionView,
  visibleHolder,
} from '#core/admin/session.ts'
import { createSessionRequest, switchSessionRequest } from '#core/admin/sign-in.ts'
import { parseBody } from '#core/api/request-issues.ts'
import type { OidcSettings } from '#core/catalogue/gateway-config.ts'
import { type AdminOperation, actorOf, currentSite, sessionOf } from '#middleware/admin-chain.ts'
import { addressOf } from '#middleware/admin-key.ts'
import { type ApiEvent, headerOf } from '#middleware/api-event.ts'
import { count } from '#platform/telemetry/measures.ts'
import { recordAudit } from '#store/audit/audit-entry.ts'
import { countForHolder, takeSignInPlace } from '#store/limits/console-rates.ts'
import {
  switchSession as change,
  endSession as end,
  endSessionsOf,
  findSignInLink,
  findUserOfKey,
  listSessions as list,
  markSessionSeen,
  openSession,
  type SignedInUser,
} from '#store/sessions/sessions.ts'
import { ConditionsNotMetError, type NamedWrites, type Table } from '#store/table/table.ts'

const MINUTE_MILLISECONDS = 60_000

/** A sign-in that is being judged. */
export type SignInAttempt = {
  /** Stops counting it as failed. */
  readonly succeed: () => Promise<void>
  /** Records that it was refused. */
  readonly recordRefusal: (reason: string) => Promise<void>
}

/**
 * Counts a sign-in of the address that the request comes from.
 * @throws TooManySignInsError when ten sign-ins of the address failed within a minute.
 */
export async function beginSignIn(
  table: Pick<Table, 'updateItem' | 'transact'>,
  event: ApiEvent,
  nowMilliseconds: number,
): Promise<SignInAttempt> {
  const address = addressOf(event)
  const recordRefusal = (reason: string) => recordRefusedSignIn(table, { event, address, reason, nowMilliseconds })
  const { giveBack, retryAfterSeconds } = await takeSignInPlace(table, address, nowMilliseconds)
  if (giveBack === undefined) {
    await recordRefusal('too many failed sign-ins')
    throw new TooManySignInsError(retryAfterSeconds)
  }
  return { succeed: giveBack, recordRefusal }
}

/**
 * Counts a sign-in whose key, link or user is right, before its session is opened.
 * @throws HolderRateExceededError for one too many of this holder in a minute. It is no failure of the address.
 */
export async function countSignIn(
  table: Pick<Table, 'updateItem'>,
  { succeed, recordRefusal }: SignInAttempt,
  user: { readonly holder: string; readonly nowMilliseconds: number },
): Promise<void> {
  try {
    await countForHolder(table, 'sign-in', user)
  } catch (error) {
    if (error instanceof HolderRateExceededError) {
      await recordRefusal('too many sign-ins of one key or user')
      await succeed()
    }
    throw error
  }
}

type Refusal = {
  readonly event: ApiEvent
  readonly address: string
  readonly reason: string
  readonly nowMilliseconds: number
}

/** Counts every refusal. One entry of the audit log for an address and minute, so that nobody can fill the log. */
async function recordRefusedSignIn(
  table: Pick<Table, 'transact'>,
  { event, address, reason, nowMilliseconds }: Refusal,
): Promise<void> {
  count('sign_in_refused')
  await recordAudit(table, {
    actor: { name: address, role: 'anonymous', requestId: event.requestContext.requestId },
    action: 'session refuse',
    target: { kind: 'console', id: 'sign-in' },
    before: null,
    after: { reason },
    at: nowMilliseconds - (nowMilliseconds % MINUTE_MILLISECONDS),
    id: `sign-in#${address}`,
  })
}

type SessionCookie = { readonly token: string; readonly maxAgeSeconds: number }

/**
 * The `Set-Cookie` header of a session. The path keeps the cookie from `/v1`, and `Strict` from every request that a page of
 * another site causes.
 */
export function sessionCookie(event: ApiEvent, site: ConsoleSite, { token, maxAgeSeconds }: SessionCookie): string {
  const name = sessionCookieName(site, headerOf(event, 'host'))
  return setCookie(name, token, { path: '/admin', sameSite: 'Strict', isSecure: !site.isLoopback, maxAgeSeconds })
}

/** The `Set-Cookie` header that removes the session's cookie. */
export function noSessionCookie(event: ApiEvent, site: ConsoleSite): string {
  return sessionCookie(event, site, { token: '', maxAgeSeconds: 0 })
}

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

/** PATCH /admin/v1/session: gives the session the role that its user has for a tenant, or for all. */
export function switchSession({ table }: SignInContext): AdminOperation {
  return async (event) => {
    const session = sessionOf(event)
    const { tenant } = parseBody(switchSessionRequest, event.json)
    const to = session.assignments?.find((each) => (each.tenant?.id ?? null) === tenant)
    if (to === undefined) {
      throw new ForbiddenError('your provider and the configuration give you no role there')
    }
    if (!(await change(table(), session, { actor: actorOf(event), to }))) {
      throw new NotSignedInError()
    }
    return { body: sessionView({ ...session, ...to }) }
  }
}

/** The OpenID provider of the deployment, from `CONSOLE_OIDC`, which was checked when it was deployed; undefined without one. */
export function oidcSettings({
  CONSOLE_OIDC: json,
}: Readonly<Record<string, string | undefined>>): OidcSettings | undefined {
  // biome-ignore lint/plugin: written by the deployment, checked before.
  return json ? JSON.parse(json) : undefined
}

/** GET /admin/v1/sign-in: how users can sign in here. */
export function getSignIn({ environment }: SignInContext): AdminOperation {
  return async () => {
    const { isLoopback } = currentSite(environment)
    const settings = oidcSettings(environment)
    const oidc = settings === undefined ? null : { issuer: settings.issuer, label: settings.label ?? null }
    const methods = ['admin_key', 'api_key', ...(oidc === null ? [] : ['oidc']), ...(isLoopback ? ['link'] : [])]
    return { body: { object: 'sign_in', methods, oidc, environment: isLoopback ? 'local' : 'aws' } }
  }
}

/** GET /admin/v1/sessions: the user's own sessions, or all of them for owners. */
export function listSessions({ table }: SignInContext): AdminOperation {
  return async (event) => {
    const session = sessionOf(event)
    const query = event.queryStringParameters ?? {}
    const now = Date.now()
    const { sessions, next } = await list(table(), {
      limit: readPageLimit(query),
      after: query.after,
      holder: visibleHolder(session),
      nowMilliseconds: now,
    })
    const data = sessions.map((each) => sessionRow(each, session.id))
    const as_of = Math.trunc(now / 1000)
    return { body: { object: 'list', data, has_more: next !== undefined, next: next ?? null, as_of } }
  }
}

/** DELETE /admin/v1/sessions/{session_id}: ends one of the sessions that the user may see. */
export function endSession({ table }: SignInContext): AdminOperation {
  return async (event) => {
    const id = event.pathParameters?.session_id ?? ''
    const ending = { actor: actorOf(event), holder: visibleHolder(sessionOf(event)) }
    if (!isSessionId(id) || !(await end(table(), id, ending))) {
      throw new SessionNotFoundError()
    }
    return {}
  }
}

/** DELETE /admin/v1/session: signs out. */
export function signOut({ table, environment }: SignInContext): AdminOperation {
  return async (event) => {
    const { id, holder } = sessionOf(event)
    await end(table(), id, { actor: actorOf(event), holder })
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

/** What the operations of sign-in take from outside. */
export type SignInContext = {
  readonly table: () => Table
  readonly environment: Readonly<Record<string, string | undefined>>
}
