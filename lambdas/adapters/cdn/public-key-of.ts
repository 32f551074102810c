import { createPublicKey } from 'node:crypto'

/**
 * The public half of a key in the form that CloudFront takes: SPKI in PEM. Two encodings of one key give the same result.
 * @param pem either half of a key pair in PEM.
 * @throws Error for anything else; its message may quote the input.
 */
export function publicKeyOf(pem: string): string {
  return createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString()
}
