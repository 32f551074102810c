import { hash } from 'node:crypto'

/** The SHA-256 digest of a string, encoded as UTF-8, in lower-case hex. */
export function sha256Hex(text: string): string {
  return hash('sha256', text)
}
