import { InvalidRequestError } from '../errors.ts'

/** Longer than any id in use; only its digest is stored. */
const IDEMPOTENCY_KEY_CHARACTERS_MAX = 255

/**
 * Reads the `Idempotency-Key` header; an empty one counts as missing.
 * @throws InvalidRequestError if it is too long.
 */
export function readIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined || header === '') {
    return undefined
  }
  if (header.length > IDEMPOTENCY_KEY_CHARACTERS_MAX) {
    const message = `the Idempotency-Key header must be at most ${IDEMPOTENCY_KEY_CHARACTERS_MAX} characters`
    throw new InvalidRequestError([{ path: 'Idempotency-Key', message }])
  }
  return header
}
