import { InvalidApiKeyError } from './errors.ts'

/** Begins the digests of subjects, which no digest of an API key can begin with. */
const SUBJECT_DIGEST = 'subject-'

/** The digest under which the key of a subject is stored. @param digest of issuer, subject and tenant. */
export function subjectDigest(digest: string): string {
  return `${SUBJECT_DIGEST}${digest}`
}

/** Refuses a key by what it belongs to: a key of the gateway, or the subject of a token. */
export function refusedKey(keyDigest: string): InvalidApiKeyError {
  return keyDigest.startsWith(SUBJECT_DIGEST)
    ? new InvalidTokenError('its subject is revoked, suspended or expired')
    : new InvalidApiKeyError()
}

/** A token of an issuer is not valid, or its subject may not be used. Says which check failed, and nothing of the token. */
export class InvalidTokenError extends InvalidApiKeyError {
  override readonly message = 'invalid token'
  override readonly kind = { type: 'invalid_request_error', code: 'invalid_token' }
}
