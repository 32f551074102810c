import * as z from 'zod/mini'

/** What the secret of the signing keys holds is not of its form. Never quotes what it holds. */
export class UnexpectedSigningSecretError extends Error {
  override readonly name = 'UnexpectedSigningSecretError'
}

const pem = z.string().check(z.startsWith('-----BEGIN'))
const storedKey = z.object({
  /** Missing while the CDN does not know the key: a rotation that is under way, or broke off. */
  keyPairId: z.optional(z.string()),
  privateKeyPem: pem,
  /** Unix milliseconds. */
  createdAt: z.number(),
})
const secret = z.object({ keys: z.optional(z.array(storedKey)), privateKeyPem: z.optional(pem) })

/** One key as the secret keeps it. */
export type StoredSigningKey = z.infer<typeof storedKey>

/** One whose public half the CDN knows. */
export type PublishedSigningKey = StoredSigningKey & { readonly keyPairId: string }

/** `privateKeyPem` is how version 0.1.0 stored its one key, whose id was in the functions' environment. */
export type SigningKeySecret = {
  readonly keys: readonly StoredSigningKey[]
  readonly privateKeyPem?: string | undefined
}

/**
 * Reads `{"keys":[{"keyPairId","privateKeyPem","createdAt"}]}`, the older `{"privateKeyPem"}`, or `{}`.
 * @throws UnexpectedSigningSecretError for anything else.
 */
export function parseSigningKeySecret(text: string): SigningKeySecret {
  try {
    const { keys = [], privateKeyPem } = secret.parse(JSON.parse(text))
    return { keys, privateKeyPem }
  } catch {
    // An error of a parser would quote the secret.
    throw new UnexpectedSigningSecretError('the secret of the signing keys is not of its form')
  }
}

/** The keys that may sign, once old enough. */
export function publishedKeys({ keys }: Pick<SigningKeySecret, 'keys'>): PublishedSigningKey[] {
  return keys.filter((key): key is PublishedSigningKey => key.keyPairId !== undefined)
}
