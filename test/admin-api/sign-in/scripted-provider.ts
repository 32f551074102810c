import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { type Loopback, listenHttp } from '../../platform/http/loopback.ts'

/** What a test changes in an ID token. */
export type Forgery = {
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
  /** Signs with a key that the provider does not publish. */
  readonly isForeign?: boolean
  /** Sent in place of a token response. */
  readonly error?: string
  /** The one client secret that is accepted; left out, the provider asks for none. */
  readonly secret?: string
  /** Sent in place of every response. */
  readonly status?: number
}

/** An OpenID provider that does as a test says. */
export type ScriptedProvider = {
  readonly issuer: string
  /** Changes the next responses. */
  forge(forgery: Forgery): void
  /** Remembers a sign-in, as the provider's own page would. @returns the code. */
  authorize(location: URL): string
  /** Paths that were asked for. */
  readonly asked: string[]
  stop(): Promise<void>
}

const KEYS = generateKeyPairSync('rsa', { modulusLength: 2048 })
const FOREIGN = generateKeyPairSync('rsa', { modulusLength: 2048 })

/** Starts a provider with one client, `console`, and one user, who is of the group `admins`. */
export async function startScriptedProvider(): Promise<ScriptedProvider> {
  let forgery: Forgery = {}
  const codes = new Map<string, URLSearchParams>()
  const asked: string[] = []
  const server: Loopback = await listenHttp(async (request, response) => {
    const body = new URLSearchParams(Buffer.concat(await request.toArray()).toString('utf8'))
    asked.push(request.url ?? '')
    const { secret } = forgery
    const { status, json } =
      secret !== undefined && request.url === '/token' && request.headers.authorization !== basic(secret)
        ? { status: 401, json: { error: 'invalid_client' } }
        : respond(request.url ?? '', body)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
  })
  const issuer = server.origin

  function respond(path: string, body: URLSearchParams): { status: number; json: object } {
    if (forgery.status !== undefined) {
      return { status: forgery.status, json: {} }
    }
    if (path === '/.well-known/openid-configuration') {
      return { status: 200, json: discovery(issuer) }
    }
    if (path === '/jwks') {
      return {
        status: 200,
        json: { keys: [{ ...KEYS.publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256', use: 'sig' }] },
      }
    }
    const started = codes.get(body.get('code') ?? '')
    codes.delete(body.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url')
    if (forgery.error !== undefined || started?.get('code_challenge') !== challenge) {
      return { status: 400, json: { error: forgery.error ?? 'invalid_grant' } }
    }
    return { status: 200, json: { access_token: 'a', token_type: 'Bearer', id_token: idToken(started) } }
  }

  function idToken(started: URLSearchParams): string {
    const now = Math.trunc(Date.now() / 1000)
    const claims = {
      iss: issuer,
      sub: 'user-1',
      aud: 'console',
      iat: now,
      exp: now + 300,
      nonce: started.get('nonce'),
      email: 'ada@example.com',
      email_verified: true,
      groups: ['admins'],
      ...forgery.claims,
    }
    const key = forgery.isForeign ? FOREIGN.privateKey : KEYS.privateKey
    return jwt({ alg: 'RS256', kid: 'k', ...forgery.header }, claims, key)
  }

  return {
    issuer,
    asked,
    forge: (next) => {
      forgery = next
    },
    authorize: (location) => {
      const code = `code-${codes.size}-${Math.random()}`
      codes.set(code, location.searchParams)
      return code
    },
    stop: () => server.stop(),
  }
}

function basic(secret: string): string {
  return `Basic ${Buffer.from(`console:${secret}`).toString('base64')}`
}

function discovery(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
    authorization_response_iss_parameter_supported: true,
  }
}

function jwt(header: object, claims: object, key: KeyObject): string {
  const body = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${body}.${sign('sha256', Buffer.from(body), key).toString('base64url')}`
}
