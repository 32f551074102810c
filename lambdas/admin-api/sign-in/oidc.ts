import { AuthorizationResponseError, OperationProcessingError, ResponseBodyError } from 'oauth4webapi'
import { type ConsoleSite, isConsoleTarget, originOf } from '#core/admin/console-site.ts'
import { HolderRateExceededError, TooManySignInsError } from '#core/admin/errors.ts'
import { type Assignment, SESSION_MILLISECONDS } from '#core/admin/session.ts'
import {
  actorOfClaims,
  givenByRules,
  lacksVerification,
  OIDC_PAGE_HEADERS,
  refusedPage,
  signedInPage,
} from '#core/admin/sign-in.ts'
import type { OidcSettings } from '#core/catalogue/gateway-config.ts'
import { type Claims, claimOf } from '#core/claims.ts'
import { InvalidRequestError, RouteNotFoundError } from '#core/errors.ts'
import { type AdminOperation, type AdminResponse, currentSite } from '#middleware/admin-chain.ts'
import { type ApiEvent, headerOf } from '#middleware/api-event.ts'
import { isSameString, sha256Hex } from '#platform/crypto.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { openSession, randomSecret, type SignedInUser } from '#store/sessions/sessions.ts'
import type { Table } from '#store/table/table.ts'
import { findNamedTenant } from '#store/tenants/tenants.ts'
import {
  describeOidcFailure,
  noPendingCookie,
  OidcClient,
  type PendingSignIn,
  pendingCookie,
  readPendingSignIn,
} from './oidc-client.ts'
import { beginSignIn, countSignIn, oidcSettings, type SignInContext, sessionCookie } from './sessions.ts'

const CALLBACK_PATH = '/admin/v1/oidc/callback'

/** GET /admin/v1/oidc/start: sends the browser to the OpenID provider, with state, nonce and verifier in one sealed cookie. */
export function startOidc({ environment }: SignInContext): AdminOperation {
  return async (event) => {
    const settings = oidcSettings(environment)
    const site = currentSite(environment)
    const origin = originOf(site, headerOf(event, 'host'))
    if (settings === undefined || origin === undefined) {
      throw new RouteNotFoundError()
    }
    const target = readTarget(event.queryStringParameters?.to)
    const redirectUri = `${origin}${CALLBACK_PATH}`
    const signIn = { state: randomSecret(), nonce: randomSecret(), verifier: randomSecret(), redirectUri, target }
    try {
      const location = await new OidcClient(settings).authorizationUrl(signIn)
      return { headers: { location }, cookies: [await pendingCookie(signIn, site)] }
    } catch (error) {
      logger.warn('the OpenID provider could not be used', { cause: describeOidcFailure(error) })
      const lines = ['The OpenID provider cannot be reached, or its discovery document is not valid. Try again later.']
      return { status: 502, headers: OIDC_PAGE_HEADERS, body: refusedPage(lines) }
    }
  }
}

/** @throws InvalidRequestError for anything but a page of the console. */
function readTarget(target = '/console'): string {
  if (!isConsoleTarget(target)) {
    const message = '`to` must be a page of the console, such as /console/videos?status=failed'
    throw new InvalidRequestError([{ path: 'to', message }])
  }
  return target
}

const START_AGAIN = 'This sign-in has expired, or another browser or window began it. Start again.'

/** Why nobody is signed in. */
class OidcRefusedError extends Error {
  override readonly name = 'OidcRefusedError'
  readonly status: number
  readonly lines: readonly string[]

  constructor(status: number, lines: readonly string[], options?: ErrorOptions) {
    super(lines[0], options)
    this.status = status
    this.lines = lines
  }
}

/**
 * GET /admin/v1/oidc/callback: ends a sign-in at the OpenID provider. Responds with pages, because people see them; the sealed
 * cookie of the sign-in is removed whatever happens, so that it is tried once.
 */
export function finishOidc(context: SignInContext): AdminOperation {
  return async (event) => {
    const settings = oidcSettings(context.environment)
    const site = currentSite(context.environment)
    if (settings === undefined) {
      throw new RouteNotFoundError()
    }
    try {
      return await signIn(event, { ...context, settings, site })
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal === undefined) {
        throw error
      }
      const { status, lines } = refusal
      const wait = isTooOften(error) ? { 'retry-after': String(error.retryAfterSeconds) } : {}
      const headers = { ...OIDC_PAGE_HEADERS, ...wait }
      return { status, headers, cookies: [noPendingCookie(site)], body: refusedPage(lines) }
    }
  }
}

type Provider = SignInContext & { readonly settings: OidcSettings; readonly site: ConsoleSite }

async function signIn(event: ApiEvent, { table: open, settings, site }: Provider): Promise<AdminResponse> {
  const [table, now] = [open(), Date.now()]
  const pending = await readPendingSignIn(event, site)
  if (pending === undefined || !belongsTo(event, pending)) {
    throw new OidcRefusedError(400, [START_AGAIN])
  }
  const attempt = await beginSignIn(table, event, now)
  const user = await findUser(event, {
    table,
    settings,
    claims: (given) => new OidcClient(settings).claimsOf(given, pending),
  }).catch(async (error: unknown) => {
    await attempt.recordRefusal('refused after the OpenID provider')
    throw error
  })
  await countSignIn(table, attempt, { holder: user.holder, nowMilliseconds: now })
  const { requestId } = event.requestContext
  const opened = await openSession(table, user, { hasPageSecret: site.isLoopback, requestId, nowMilliseconds: now })
  await attempt.succeed()
  const { token, pageSecret } = opened
  const maxAgeSeconds = Math.trunc(SESSION_MILLISECONDS / 1000)
  const fragment = pageSecret === undefined ? '' : `#page=${pageSecret}`
  return {
    headers: OIDC_PAGE_HEADERS,
    cookies: [sessionCookie(event, site, { token, maxAgeSeconds }), noPendingCookie(site)],
    body: signedInPage(`${pending.target}${fragment}`),
  }
}

/** Refuses responses of other sign-ins before anything is asked of the provider. */
function belongsTo({ queryStringParameters }: ApiEvent, { state }: PendingSignIn): boolean {
  const { state: given = '', code, error } = queryStringParameters ?? {}
  return isSameString(given, state) && (code !== undefined || error !== undefined)
}

type Finding = {
  readonly table: Pick<Table, 'readItem' | 'queryPage'>
  readonly settings: OidcSettings
  readonly claims: (parameters: URLSearchParams) => Promise<Claims>
}

/** @throws OidcRefusedError for a user without a role; the errors of the provider. */
async function findUser(event: ApiEvent, { table, settings, claims: read }: Finding): Promise<SignedInUser> {
  const parameters = new URLSearchParams()
  for (const [name, value = ''] of Object.entries(event.queryStringParameters ?? {})) {
    parameters.set(name, value)
  }
  const claims = await read(parameters)
  const given = givenByRules(claims, settings)
  if (given.length === 0) {
    throw new OidcRefusedError(403, noRoleLines(claims, settings))
  }
  const assignments = await withTenants(table, given)
  const [first] = assignments
  if (first === undefined) {
    throw new OidcRefusedError(503, [
      'Your role is of a tenant that this gateway does not have, or has twice by this name. Show this page to its operator.',
      ...given.map(({ tenant }) => `tenant: ${tenant}`),
    ])
  }
  const holder = `oidc:${sha256Hex(`${settings.issuer}\n${claims.sub}`).slice(0, 32)}`
  return { kind: 'oidc', actor: actorOfClaims(claims), ...first, assignments, keyId: null, holder }
}

/** With the tenants of the table, all tenants first and then by name. A rule whose tenant is missing, or one of several of this name, gives nothing. */
async function withTenants(
  table: Finding['table'],
  given: ReturnType<typeof givenByRules>,
): Promise<readonly Assignment[]> {
  const found: Assignment[] = []
  for (const { role, tenant: named } of given) {
    const tenant = named === null ? null : await findNamedTenant(table, named)
    if (tenant === undefined) {
      logger.warn('a rule of the console names a tenant that is not there, or not by this name alone', {
        tenant: named,
      })
    } else if (!found.some((each) => each.tenant?.id === tenant?.id)) {
      found.push({ role, tenant })
    }
  }
  return found.toSorted((left, right) => (left.tenant?.name ?? '').localeCompare(right.tenant?.name ?? ''))
}

const CLAIM_CHARACTERS_MAX = 500
const CLAIMS_SHOWN_MAX = 10

/** What an operator needs to write into the configuration. */
function noRoleLines(claims: Claims, settings: OidcSettings): readonly string[] {
  const asked = [...new Set(settings.rules.flatMap(({ when }) => Object.keys(when)))]
  return [
    lacksVerification(claims, settings)
      ? 'This gateway gives roles by address, and the provider does not say that yours is verified (email_verified). Show this page to its operator.'
      : 'You signed in, but no rule of this gateway gives you a role. Show this page to its operator.',
    `sub: ${String(claims.sub).slice(0, CLAIM_CHARACTERS_MAX)}`,
    ...asked
      .slice(0, CLAIMS_SHOWN_MAX)
      .map(
        (name) =>
          `${name}: ${(JSON.stringify(claimOf(claims, name)) ?? 'not in the token').slice(0, CLAIM_CHARACTERS_MAX)}`,
      ),
    `claims in the token: ${Object.keys(claims).join(', ').slice(0, CLAIM_CHARACTERS_MAX)}`,
  ]
}

const PROVIDER_ERROR_NAMES: readonly string[] = [
  'OperationProcessingError',
  'UnsupportedOperationError',
  'WWWAuthenticateChallengeError',
  'ResponseBodyError',
  'RequestFailedError',
  'RequestRefusedError',
  'MissingSecretError',
]

function isTooOften(error: unknown): error is TooManySignInsError | HolderRateExceededError {
  return error instanceof TooManySignInsError || error instanceof HolderRateExceededError
}

/** Undefined for a fault of the gateway, which is no fault of the sign-in. */
function refusalOf(error: unknown): OidcRefusedError | undefined {
  if (error instanceof OidcRefusedError) {
    return error
  }
  if (isTooOften(error)) {
    return new OidcRefusedError(429, [error.message])
  }
  if (error instanceof AuthorizationResponseError) {
    return new OidcRefusedError(403, ['The OpenID provider did not sign you in.', `error: ${error.error.slice(0, 64)}`])
  }
  if (isOldCode(error) || isOfAnotherSignIn(error)) {
    return new OidcRefusedError(400, [START_AGAIN], { cause: error })
  }
  if (error instanceof Error && PROVIDER_ERROR_NAMES.includes(error.name)) {
    logger.warn('a sign-in at the OpenID provider failed', { cause: describeOidcFailure(error) })
    return new OidcRefusedError(502, ['The response of the OpenID provider could not be used. Try again later.'])
  }
  return undefined
}

/** Any other refusal, such as that of a wrong client secret, is a matter of the configuration. */
function isOldCode(error: unknown): boolean {
  return error instanceof ResponseBodyError && error.error === 'invalid_grant'
}

/** State, issuer or code of the response are not those of this sign-in: the library names the parameters of the response. */
function isOfAnotherSignIn(error: unknown): boolean {
  const cause = error instanceof OperationProcessingError ? error.cause : undefined
  return typeof cause === 'object' && cause !== null && 'parameters' in cause
}
