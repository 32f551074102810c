import * as oauth from 'oauth4webapi'
import * as z from 'zod/mini'
import { type ConsoleSite, cookieValues, setCookie } from '#core/admin/console-site.ts'
import type { OidcSettings } from '#core/catalogue/gateway-config.ts'
import type { Claims } from '#core/claims.ts'
import { parseJsonText } from '#core/json/parse-json-text.ts'
import { type ApiEvent, headerLinesOf } from '#middleware/api-event.ts'
import { openSealedValue, sealValue } from '#platform/crypto.ts'
import { readSecretEntries, sealingSecrets } from '#platform/secrets.ts'
import { guardedFetch } from '#upstream/guard/guarded-request.ts'

/** Signatures that are accepted, whatever a provider offers. */
const ALGORITHMS: readonly string[] = ['RS256', 'ES256', 'PS256', 'EdDSA']

/** What providers sign with unless their discovery document says otherwise (OpenID Connect Discovery, 3). */
const ALGORITHM_DEFAULT = 'RS256'

const DISCOVERY_MILLISECONDS = 60 * 60 * 1000

type Discovered = { readonly server: Promise<oauth.AuthorizationServer>; readonly endsAt: number }

/** By issuer. The keys of a provider are kept with its discovery document, and read again for an unknown key after a minute. */
const discovered = new Map<string, Discovered>()

/** The provider of the console, as its client: discovery, the address of its sign-in page, and tokens. */
export class OidcClient {
  readonly #settings: OidcSettings
  readonly #client: oauth.Client
  readonly #options: oauth.HttpRequestOptions<'GET' | 'POST', URLSearchParams | undefined>

  constructor(settings: OidcSettings) {
    this.#settings = settings
    this.#client = { client_id: settings.client_id }
    const fetch = guardedFetch(new URL(settings.issuer).origin)
    this.#options = {
      [oauth.customFetch]: (url: string, { method, headers, body }) => fetch(url, { method, headers, body }),
      // The configuration allows plain http for a provider on this machine alone.
      [oauth.allowInsecureRequests]: settings.issuer.startsWith('http:'),
    }
  }

  /** Where a sign-in begins. @throws errors of the network and of a discovery document that is not the issuer's. */
  async authorizationUrl({ state, nonce, verifier, redirectUri }: Omit<PendingSignIn, 'target'>): Promise<string> {
    const { authorization_endpoint: endpoint = '' } = await this.#server()
    const url = new URL(endpoint)
    const parameters = {
      response_type: 'code',
      client_id: this.#settings.client_id,
      redirect_uri: redirectUri,
      scope: this.#settings.scope,
      state,
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries(parameters)) {
      url.searchParams.set(name, value)
    }
    return url.href
  }

  /**
   * The claims of the user who comes back: issuer, state, code, and of the ID token signature, issuer, audience, times and nonce
   * are checked. A client secret that the provider refuses is read again, and a new one is tried once.
   * @throws errors of oauth4webapi and of the network.
   */
  async claimsOf(parameters: URLSearchParams, pending: PendingSignIn): Promise<Claims> {
    const server = await this.#server()
    const checked = oauth.validateAuthResponse(server, this.#client, parameters, pending.state)
    const secret = await clientSecret('cached')
    try {
      return await this.#redeem(server, checked, pending, secret)
    } catch (error) {
      const renewed = isClientRefused(error) ? await clientSecret('rechecked') : secret
      if (renewed === secret) {
        throw error
      }
      return await this.#redeem(server, checked, pending, renewed)
    }
  }

  /** Exchanges the code of a checked response for the claims of the user. */
  async #redeem(
    server: oauth.AuthorizationServer,
    checked: URLSearchParams,
    { nonce, verifier, redirectUri }: PendingSignIn,
    secret: string | undefined,
  ): Promise<Claims> {
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      this.#client,
      authentication(server, secret),
      checked,
      redirectUri,
      verifier,
      this.#options,
    )
    const options = { expectedNonce: nonce, requireIdToken: true }
    const tokens = await oauth.processAuthorizationCodeResponse(server, this.#client, response, options)
    await oauth.validateApplicationLevelSignature(server, response, this.#options)
    return { ...oauth.getValidatedIdTokenClaims(tokens) }
  }

  /** Discovered at most once an hour; a failure is not kept. */
  async #server(): Promise<oauth.AuthorizationServer> {
    const { issuer } = this.#settings
    const known = discovered.get(issuer)
    if (known !== undefined && known.endsAt > Date.now()) {
      return await known.server
    }
    const server = this.#discover().catch((error: unknown) => {
      discovered.delete(issuer)
      throw error
    })
    discovered.set(issuer, { server, endsAt: Date.now() + DISCOVERY_MILLISECONDS })
    return await server
  }

  async #discover(): Promise<oauth.AuthorizationServer> {
    const issuer = new URL(this.#settings.issuer)
    const response = await oauth.discoveryRequest(issuer, this.#options)
    const server = await oauth.processDiscoveryResponse(issuer, response)
    const offered = server.id_token_signing_alg_values_supported ?? [ALGORITHM_DEFAULT]
    const accepted = offered.filter((algorithm) => ALGORITHMS.includes(algorithm))
    return { ...server, id_token_signing_alg_values_supported: accepted }
  }
}

/** A client with a secret sends it as the provider prefers; a client without one proves itself by PKCE alone. */
function authentication(
  { token_endpoint_auth_methods_supported: methods }: oauth.AuthorizationServer,
  secret: string | undefined,
): oauth.ClientAuth {
  if (secret === undefined) {
    return oauth.None()
  }
  const isPosted = methods?.includes('client_secret_post') === true && !methods.includes('client_secret_basic')
  return isPosted ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret)
}

/** From the secret of the front door on AWS, or from the environment. */
async function clientSecret(freshness: 'cached' | 'rechecked'): Promise<string | undefined> {
  const { FRONT_DOOR_SECRET_ARN: secretArn, CONSOLE_OIDC_CLIENT_SECRET: local } = process.env
  const secret = secretArn ? (await readSecretEntries(secretArn, freshness)).oidc_client_secret : local
  return secret === '' ? undefined : secret
}

/** RFC 6749, 5.2. Headers of the response, such as a challenge, do not come through the guarded client. */
function isClientRefused(error: unknown): boolean {
  return error instanceof oauth.ResponseBodyError && error.error === 'invalid_client'
}

/** A failure in words for the log: never a token, a code, a claim or a body, which the errors carry as their causes. */
export function describeOidcFailure(error: unknown): string {
  if (!(error instanceof Error)) {
    return 'unknown'
  }
  const code = 'code' in error && typeof error.code === 'string' ? ` ${error.code}` : ''
  const reason = 'error' in error && typeof error.error === 'string' ? ` ${error.error.slice(0, 64)}` : ''
  return `${error.name}${code}${reason}: ${error.message}`
}

const PURPOSE = 'reelgate oidc sign-in'
const LIFE_SECONDS = 600

const pending = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  redirectUri: z.string(),
  /** The page to come back to. */
  target: z.string(),
  /** Unix seconds. */
  endsAt: z.number(),
})

/** A sign-in while its user is at the provider. It is in one sealed cookie, so that only the browser that began it can end it. */
export type PendingSignIn = Omit<z.infer<typeof pending>, 'endsAt'>

/** The cookie must arrive with a request that the provider's site causes, so it is not Strict. */
export async function pendingCookie(signIn: PendingSignIn, site: ConsoleSite): Promise<string> {
  const [secret = ''] = await sealingSecrets()
  const text = JSON.stringify({ ...signIn, endsAt: nowSeconds() + LIFE_SECONDS })
  return cookie(site, sealValue(text, { secret, purpose: PURPOSE }), LIFE_SECONDS)
}

/** Removes the cookie. */
export function noPendingCookie(site: ConsoleSite): string {
  return cookie(site, '', 0)
}

/** The sign-in that this browser began; undefined without one, after ten minutes, and for a cookie that was changed or that another version wrote. */
export async function readPendingSignIn(event: ApiEvent, site: ConsoleSite): Promise<PendingSignIn | undefined> {
  const [value, ...others] = cookieValues(headerLinesOf(event, 'cookie'), cookieName(site))
  if (value === undefined || others.length > 0) {
    return undefined
  }
  const text = openSealedValue(value, { secrets: await sealingSecrets(), purpose: PURPOSE })
  const signIn = text === undefined ? undefined : pending.safeParse(parseJsonText(text)).data
  return signIn !== undefined && signIn.endsAt > nowSeconds() ? signIn : undefined
}

function cookie(site: ConsoleSite, value: string, maxAgeSeconds: number): string {
  const settings = { path: '/admin/v1/oidc', sameSite: 'Lax', isSecure: !site.isLoopback, maxAgeSeconds } as const
  return setCookie(cookieName(site), value, settings)
}

function cookieName({ isLoopback }: ConsoleSite): string {
  return isLoopback ? 'rg_oidc' : '__Secure-rg_oidc'
}

function nowSeconds(): number {
  return Math.trunc(Date.now() / 1000)
}
