import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { listenHttp } from '../platform/http/loopback.ts'

type IssuerKey = { readonly kid: string; readonly alg: string; readonly privateKey: CryptoKey; readonly jwk: object }

/** Claims and header of a token. Undefined leaves out what is there by default. */
export type TokenParts = {
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
  /** Signs with this key in place of the newest one. */
  readonly key?: IssuerKey
}

export const AUDIENCE = 'https://gateway.example.com'

/** An issuer of tokens on this machine: its discovery document, its keys, which can be rotated, and its tokens. */
export async function startIssuer({ alg = 'ES256' } = {}) {
  const made: IssuerKey[] = []
  let published: object[] = []
  let isDown = false
  const reads = { discovery: 0, keys: 0 }
  const server = await listenHttp((request, response) => {
    const isDiscovery = request.url === '/.well-known/openid-configuration'
    reads[isDiscovery ? 'discovery' : 'keys'] += 1
    const body = isDiscovery ? { issuer: server.origin, jwks_uri: `${server.origin}/keys` } : { keys: published }
    response
      .writeHead(isDown ? 500 : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify(isDown ? {} : body))
  })
  const makeKey = async (keyAlg = alg): Promise<IssuerKey> => {
    const { privateKey, publicKey } = await generateKeyPair(keyAlg)
    const kid = `key-${made.length + 1}`
    const key = { kid, alg: keyAlg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: keyAlg, use: 'sig' } }
    made.push(key)
    return key
  }
  const rotate = async (keyAlg?: string) => {
    const key = await makeKey(keyAlg)
    published = [...published, key.jwk]
    return key
  }
  await rotate()
  return {
    issuer: server.origin,
    /** How often each document was read. */
    reads,
    /** Makes a key and publishes it beside the older ones. */
    rotate,
    /** Makes a key that is not published. */
    makeKey,
    publish: (keys: readonly object[]) => {
      published = [...keys]
    },
    setDown: (down: boolean) => {
      isDown = down
    },
    /** A token of five minutes for {@link AUDIENCE}. */
    async token({ claims = {}, header = {}, key = made.at(-1) }: TokenParts = {}): Promise<string> {
      if (key === undefined) {
        throw new TypeError('the issuer has no key')
      }
      const now = Math.trunc(Date.now() / 1000)
      const payload: JWTPayload = {
        ...{ iss: server.origin, sub: 'subject', aud: AUDIENCE, iat: now, exp: now + 300 },
        ...claims,
      }
      const protectedHeader = { alg: key.alg, kid: key.kid, typ: 'JWT', ...header }
      return await new SignJWT(payload).setProtectedHeader(protectedHeader).sign(key.privateKey)
    },
    stop: () => server.stop(),
  }
}

export type TestIssuer = Awaited<ReturnType<typeof startIssuer>>

/** A token in three parts as written, for those that no library would make. */
export function rawToken(header: object, claims: object, signature = ''): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  return `${encode(header)}.${encode(claims)}.${signature}`
}
