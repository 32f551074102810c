import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JSONWebKeySet,
  jwtVerify,
  type ProtectedHeaderParameters,
} from 'jose'
import * as z from 'zod/mini'
import type { Claims } from '#core/claims.ts'
import { ServiceUnavailableError } from '#core/errors.ts'
import type { IdentitySettings, Issuer } from '#core/identity.ts'
import { parseJsonObject, parseJsonText } from '#core/json/parse-json-text.ts'
import { InvalidTokenError } from '#core/refused-key.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { logger } from '../platform/telemetry/logger.ts'
import { guardedFetch } from './guard/guarded-request.ts'
import type { OutboundNetwork } from './guard/outbound-network.ts'

/** Signatures that are accepted, whatever a token or a key says. All are made with a private key. */
const ALGORITHMS: readonly string[] = ['RS256', 'ES256', 'ES384', 'EdDSA']

/** Clocks of issuers may be so far apart from ours. */
const SKEW_SECONDS = 60

/** A token that lives longer is a password. */
const LIFE_SECONDS_MAX = 24 * 60 * 60

const SUBJECT_CHARACTERS_MAX = 2_048

/** How long the keys of an issuer are used without being read again. */
const KEYS_MILLISECONDS = 60 * 60 * 1000

/** How long they are used while the issuer cannot be read. */
const KEYS_MILLISECONDS_MAX = KEYS_MILLISECONDS + 24 * 60 * 60 * 1000

/** Keys are read again for an unknown key id, or after a failure, at most so often. */
const PAUSE_MILLISECONDS = 60_000

/** An issuer whose keys were never read is asked again sooner: until then nobody can be let in. */
const FIRST_PAUSE_MILLISECONDS = 5_000

/** What issuers publish is far less. */
const KEYS_MAX = 100

const discoveryDocument = z.object({ issuer: z.string(), jwks_uri: z.string() })

const keySetDocument = z.object({
  keys: z.array(
    z.looseObject({
      kty: z.string(),
      kid: z.optional(z.string()),
      use: z.optional(z.string()),
      alg: z.optional(z.string()),
    }),
  ),
})

type KeySet = ReturnType<typeof createLocalJWKSet>

/** The public keys of one issuer: kept, read again when they are old or a key id is unknown, and never more often than allowed. */
class IssuerKeys {
  readonly #read: () => Promise<KeySet>
  readonly #clock: Pick<Clock, 'nowMilliseconds'>
  readonly #issuer: string
  #kept: { readonly keys: KeySet; readonly readAt: number } | undefined
  /** When a read last began that was not the first one. */
  #triedAt = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined
  /** Why the last read failed. */
  #failure: string | undefined

  constructor(issuer: string, read: () => Promise<KeySet>, clock: Pick<Clock, 'nowMilliseconds'>) {
    this.#issuer = issuer
    this.#read = read
    this.#clock = clock
  }

  /** @throws ServiceUnavailableError while the issuer cannot be read and no keys are kept. */
  async current(): Promise<KeySet> {
    const age = this.#age()
    if (age >= KEYS_MILLISECONDS_MAX) {
      await this.#renew(this.#kept === undefined ? FIRST_PAUSE_MILLISECONDS : PAUSE_MILLISECONDS)
    } else if (age >= KEYS_MILLISECONDS) {
      // Beside the request: kept keys are good for a day more, and an issuer that is slow delays nobody.
      void this.#renew(PAUSE_MILLISECONDS)
    }
    if (this.#kept === undefined || this.#age() >= KEYS_MILLISECONDS_MAX) {
      throw new ServiceUnavailableError({
        cause: new Error(`the keys of the issuer ${this.#issuer} cannot be read: ${this.#failure ?? 'unknown'}`),
      })
    }
    return this.#kept.keys
  }

  /** The keys after a read for an unknown key id; as they were if the last such read was less than a minute ago. */
  async renewed(): Promise<KeySet> {
    await this.#renew(PAUSE_MILLISECONDS)
    return await this.current()
  }

  #age(): number {
    return this.#kept === undefined ? Number.POSITIVE_INFINITY : this.#clock.nowMilliseconds() - this.#kept.readAt
  }

  /** Requests share one read. */
  async #renew(pauseMilliseconds: number): Promise<void> {
    const now = this.#clock.nowMilliseconds()
    if (this.#reading === undefined && now - this.#triedAt >= pauseMilliseconds) {
      const isFirst = this.#kept === undefined
      this.#triedAt = now
      this.#reading = this.#tryRead(isFirst).finally(() => {
        this.#reading = undefined
      })
    }
    await this.#reading
  }

  async #tryRead(isFirst: boolean): Promise<void> {
    try {
      this.#kept = { keys: await this.#read(), readAt: this.#clock.nowMilliseconds() }
      if (isFirst) {
        this.#triedAt = Number.NEGATIVE_INFINITY
      }
    } catch (error) {
      this.#failure = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown'
      logger.warn('the keys of an identity issuer could not be read', { issuer: this.#issuer, cause: this.#failure })
    }
  }
}

/** A valid token: its issuer, its subject, and all of its claims. */
export type VerifiedToken = { readonly issuer: Issuer; readonly subject: string; readonly claims: Claims }

type Outside = Pick<Clock, 'nowMilliseconds'> & { readonly network?: Partial<OutboundNetwork> }

/** Verifies the tokens of the listed issuers. Nothing is read from the network for any other. */
export class TokenVerifier {
  readonly #issuers: ReadonlyMap<string, { readonly issuer: Issuer; readonly keys: IssuerKeys }>
  readonly #clock: Pick<Clock, 'nowMilliseconds'>

  constructor({ issuers, trusted_origins: trusted }: IdentitySettings, outside: Outside = systemClock) {
    this.#clock = outside
    this.#issuers = new Map(
      issuers.map((issuer) => {
        const read = () => readKeys(issuer, trusted, outside.network)
        return [issuer.issuer, { issuer, keys: new IssuerKeys(issuer.issuer, read, outside) }]
      }),
    )
  }

  /**
   * Undefined for a text that is no token of a listed issuer.
   * @throws InvalidTokenError saying which check failed, without a word of the token. @throws ServiceUnavailableError.
   */
  async verify(token: string): Promise<VerifiedToken | undefined> {
    const found = this.#issuers.get(issuerIn(token) ?? '')
    if (found === undefined) {
      return undefined
    }
    const { issuer, keys } = found
    requireHeader(token)
    const claims = await this.#check(token, issuer, keys)
    return { issuer, subject: this.#subjectOf(claims), claims }
  }

  async #check(token: string, { issuer, audience }: Issuer, keys: IssuerKeys): Promise<Claims> {
    const options = {
      issuer,
      audience: [...audience],
      algorithms: [...ALGORITHMS],
      clockTolerance: SKEW_SECONDS,
      currentDate: new Date(this.#clock.nowMilliseconds()),
      requiredClaims: ['exp', 'sub'],
    }
    const check = async (keySet: KeySet) => {
      const { payload } = await jwtVerify(token, keySet, options)
      // Read again, because `JSON.parse` can be made to read a name wrongly: rules go by names.
      return parseJsonObject(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) ?? payload
    }
    try {
      return await check(await keys.current())
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) {
        throw failedCheck(error)
      }
    }
    try {
      return await check(await keys.renewed())
    } catch (error) {
      throw failedCheck(error)
    }
  }

  #subjectOf({ sub, exp, iat }: Claims): string {
    if (typeof sub !== 'string' || sub === '' || sub.length > SUBJECT_CHARACTERS_MAX || !sub.isWellFormed()) {
      throw new InvalidTokenError(`its subject (sub) must be a text of 1 to ${SUBJECT_CHARACTERS_MAX} characters`)
    }
    const now = this.#clock.nowMilliseconds() / 1000
    const begins = typeof iat === 'number' ? Math.min(iat, now) : now
    if (typeof exp !== 'number' || exp - begins > LIFE_SECONDS_MAX) {
      throw new InvalidTokenError('it is valid for more than 24 hours (exp)')
    }
    return sub
  }
}

/** What a text claims to be issued by, unverified; undefined for a text that is no token. */
function issuerIn(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}

/** The types of tokens that identify their bearer (RFC 8725, 3.11; RFC 9068). A token for another use, such as `logout+jwt`, does not. */
const TYPES: readonly unknown[] = [undefined, 'jwt', 'at+jwt']

function requireHeader(token: string): void {
  let header: ProtectedHeaderParameters
  try {
    header = decodeProtectedHeader(token)
  } catch {
    throw new InvalidTokenError('its header cannot be read')
  }
  const { alg: algorithm, typ: type } = header
  if (algorithm === undefined || !ALGORITHMS.includes(algorithm)) {
    throw new InvalidTokenError(`its algorithm (alg) is none of ${ALGORITHMS.join(', ')}`)
  }
  // A media type, whose `application/` may be left out (RFC 7515, 4.1.9).
  if (!TYPES.includes(typeof type === 'string' ? type.toLowerCase().replace(/^application\//, '') : type)) {
    throw new InvalidTokenError('it is a token for another use (typ): only JWT and at+jwt identify a caller')
  }
}

const CLAIM_WORDS: Readonly<Record<string, string>> = {
  aud: 'it is for another audience (aud)',
  exp: 'it has no valid end (exp)',
  iat: 'its time of issue (iat) is not valid',
  iss: 'its issuer (iss) is another one',
  nbf: 'it is not valid yet (nbf)',
  sub: 'it has no subject (sub)',
}

/** The check that failed, as a client may read it. Errors of the key's source pass. */
function failedCheck(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) {
    return new InvalidTokenError('it has expired (exp)')
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    return new InvalidTokenError(CLAIM_WORDS[error.claim] ?? 'a claim is not valid')
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return new InvalidTokenError('its signature is not valid')
  }
  if (error instanceof errors.JWKSNoMatchingKey) {
    return new InvalidTokenError('its issuer has no such key (kid)')
  }
  if (error instanceof errors.JWKSMultipleMatchingKeys) {
    return new InvalidTokenError('it does not say which key of its issuer signed it (kid)')
  }
  // Of a key that cannot be used, such as one that is too short, jose throws a TypeError.
  const isOfToken = error instanceof errors.JOSEError || error instanceof TypeError
  return isOfToken ? new InvalidTokenError('it is not well formed') : error
}

/** @throws errors of the guard and of documents that are not the issuer's. */
async function readKeys(
  { issuer, jwks_url: given }: Issuer,
  trusted: readonly string[],
  network: Partial<OutboundNetwork> | undefined,
): Promise<KeySet> {
  const { origin, protocol } = new URL(issuer)
  const own = protocol === 'http:' ? [...trusted, origin] : trusted
  const read = async (url: string) => {
    const target = new URL(url).origin
    const response = await guardedFetch(own.includes(target) ? target : '', network)(url)
    if (response.status !== 200) {
      throw new TypeError(`${target} responded with ${response.status}`)
    }
    return parseJsonText(await response.text())
  }
  const keysUrl = given ?? (await discover(issuer, read))
  const { keys } = keySetDocument.parse(await read(keysUrl))
  const usable = keys
    .slice(0, KEYS_MAX)
    .filter(({ use, alg }) => use !== 'enc' && (alg === undefined || ALGORITHMS.includes(alg)))
  return createLocalJWKSet({ keys: usable } as JSONWebKeySet)
}

async function discover(issuer: string, read: (url: string) => Promise<unknown>): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const { issuer: named, jwks_uri: keysUrl } = discoveryDocument.parse(await read(url))
  if (named !== issuer) {
    throw new TypeError('the discovery document names another issuer')
  }
  return keysUrl
}
