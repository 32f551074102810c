import { createPublicKey } from 'node:crypto'

/**
 * The public half of a key as CloudFront takes it: SPKI in PEM. Two texts of one key come out equal.
 * @param pem either half of a key pair in PEM.
 * @throws Error for anything else; its message may quote what it was given.
 */
export function publicKeyOf(pem: string): string {
  return createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString()
}
