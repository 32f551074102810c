import { isConsoleTarget, originOf } from '#core/admin/console-site.ts'
import { OIDC_PAGE_HEADERS, refusedPage } from '#core/admin/sign-in.ts'
import { InvalidRequestError, RouteNotFoundError } from '#core/errors.ts'
import { type AdminOperation, currentSite } from '#middleware/admin-chain.ts'
import { headerOf } from '#middleware/api-event.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { randomSecret } from '#store/sessions/sessions.ts'
import { describeOidcFailure, OidcClient, oidcSettings } from './oidc-client.ts'
import { pendingCookie } from './oidc-cookie.ts'
import type { SignInContext } from './sign-in-context.ts'

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
