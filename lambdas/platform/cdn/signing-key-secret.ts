import { createPublicKey } from 'node:crypto'
import * as z from 'zod/mini'
import { parseJsonText } from '#core/json/parse-json-text.ts'

/** The secret of the signing keys does not have its form. The message never quotes the secret. */
export class UnexpectedSigningSecretError extends Error {
  override readonly name = 'UnexpectedSigningSecretError'
}

const pem = z.string().check(z.startsWith('-----BEGIN'))
const storedKey = z.object({
  /** Missing while the CDN does not know the key: during a rotation, or after one that failed. */
  keyPairId: z.optional(z.string()),
  privateKeyPem: pem,
  /** Unix milliseconds. */
  createdAt: z.number(),
})
const secret = z.object({ keys: z.optional(z.array(storedKey)) })

/** One key in the secret. */
export type StoredSigningKey = z.infer<typeof storedKey>

/** A key whose public half the CDN knows. */
export type PublishedSigningKey = StoredSigningKey & { readonly keyPairId: string }

/**
 * Reads `{"keys":[{"keyPairId","privateKeyPem","createdAt"}]}`, or `{}` for no key.
 * @throws UnexpectedSigningSecretError for anything else.
 */
export function parseSigningKeySecret(text: string): readonly StoredSigningKey[] {
  try {
    return secret.parse(parseJsonText(text)).keys ?? []
  } catch {
    // The parser's error would quote the secret.
    throw new UnexpectedSigningSecretError('the secret of the signing keys has another JSON shape')
  }
}

/** The keys that may sign once they are old enough. */
export function publishedKeys(keys: readonly StoredSigningKey[]): PublishedSigningKey[] {
  return keys.filter((key): key is PublishedSigningKey => key.keyPairId !== undefined)
}

/**
 * The public half of a key in the form that CloudFront takes: SPKI in PEM. Two encodings of one key give the same result.
 * @param pem either half of a key pair in PEM.
 * @throws Error for anything else; its message may quote the input.
 */
export function publicKeyOf(pem: string): string {
  return createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString()
}
