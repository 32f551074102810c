import type { WorkloadIdentity } from '#core/catalogue/channel.ts'
import { TOKEN_PROVIDERS } from '#core/catalogue/upstream-auth.ts'
import { parseJsonObject } from '#core/json/parse-json-text.ts'
import { webIdentityToken } from '../aws/sts.ts'
import { once } from '../cache.ts'
import { createHttpClient, exchangeWhole, type WholeLimits } from '../http/http-client.ts'
import type { Made } from './renewed-value.ts'

/** A token of the role could not be exchanged. The message has the provider's code, and none of its words. */
export class TokenExchangeError extends Error {
  override readonly name = 'TokenExchangeError'
}

const LIMITS: WholeLimits = {
  connectMilliseconds: 3_000,
  totalMilliseconds: 10_000,
  bytesMax: 64 * 1024,
  // A token of the role is exchanged once.
  connection: 'own',
}

const FORM = 'application/x-www-form-urlencoded'

/** Parameters of Anthropic's endpoint, by their versions (Claude docs, "WIF reference"). */
const ANTHROPIC_BETAS = 'oauth-2025-04-20,oidc-federation-2026-04-01'

const httpClient = once(createHttpClient)

/**
 * Asks AWS for a token of the function's role, and the provider for one of its own in exchange.
 * @returns a bearer, which is renewed after two thirds of its life.
 * @throws TokenExchangeError, and what `webIdentityToken` throws.
 */
export async function exchangeToken(identity: WorkloadIdentity): Promise<Made<string>> {
  const provider = TOKEN_PROVIDERS[identity.provider]
  const token = await webIdentityToken(provider.audience)
  const { headers, body } = requestOf(identity, token)
  const askedAt = Date.now()
  const outcome = await exchangeWhole(httpClient(), {
    method: 'POST',
    url: identity.token_url ?? provider.tokenUrl,
    headers: { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'reelgate', ...headers },
    body,
    limits: LIMITS,
  })
  if (outcome.kind !== 'response') {
    throw new TokenExchangeError(`no response of the token endpoint: ${outcome.reason}`)
  }
  const reply = parseJsonObject(outcome.text)
  if (outcome.status !== 200) {
    throw new TokenExchangeError(`the token endpoint refused: HTTP ${outcome.status}${codeOf(reply)}`)
  }
  const { access_token: value, expires_in: seconds } = reply ?? {}
  if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value) || !(Number(seconds) > 0)) {
    throw new TokenExchangeError('the token endpoint sent no token')
  }
  const life = Number(seconds) * 1_000
  return { value, expiresAt: askedAt + life, renewAt: askedAt + (life * 2) / 3 }
}

function requestOf(identity: WorkloadIdentity, token: string) {
  if (identity.provider === 'openai') {
    const form = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      identity_provider_id: identity.identity_provider_id,
      service_account_id: identity.service_account_id,
    })
    return { headers: { 'content-type': FORM }, body: form.toString() }
  }
  const { provider: _, token_url: __, ...ids } = identity
  const assertion = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: token, ...ids }
  return {
    headers: { 'content-type': 'application/json', 'anthropic-beta': ANTHROPIC_BETAS },
    body: JSON.stringify(assertion),
  }
}

/** A code that a log may show: OAuth's is a string, and Anthropic's the type of an object. */
function codeOf(reply: Readonly<Record<string, unknown>> | undefined): string {
  const error = reply?.error
  const code = typeof error === 'string' ? error : Object(error).type
  return typeof code === 'string' && /^[\w.-]{1,80}$/.test(code) ? ` ${code}` : ''
}
