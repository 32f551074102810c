import { isLikeToken } from '#core/api-key.ts'
import { refusedKey } from '#core/refused-key.ts'
import { sha256Hex } from '#platform/crypto.ts'
import type { Caller } from '#store/callers.ts'

/** Whether callers may show a token of an issuer in place of an API key. */
export function takesTokens(): boolean {
  return Boolean(process.env.IDENTITY_FILE)
}

/**
 * Finds whom a request shows: by the digest of its API key, or by the token of an issuer, whose subject gets a key at its first use.
 * @param lookUp finds the caller of a digest; undefined, or an InvalidApiKeyError, for one that may not be used.
 * @throws InvalidApiKeyError, NoIdentityRuleError, ServiceUnavailableError.
 */
export async function findShown<Found extends { readonly caller: Caller }>(
  shown: string,
  lookUp: (keyDigest: string) => Promise<Found | undefined>,
): Promise<Found> {
  const subject = takesTokens() && isLikeToken(shown) ? await readSubject(shown) : undefined
  const keyDigest = subject?.digest ?? sha256Hex(shown)
  const find = () => lookUp(keyDigest)
  const found = subject === undefined ? await find() : await subject.find(find)
  if (found === undefined) {
    throw refusedKey(keyDigest)
  }
  return found
}

/** Loaded with the first token, so that API keys pay nothing for it. */
async function readSubject(token: string) {
  const { readTokenSubject } = await import('./token-subject.ts')
  return await readTokenSubject(token)
}
