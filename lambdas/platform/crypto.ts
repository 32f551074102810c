import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { base62FromBytes } from '#core/api-key.ts'

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16

/** Encrypts a string so that only holders of the secret can read or change it. @param purpose keeps values of two kinds apart. */
export function sealValue(text: string, { secret, purpose }: { secret: string; purpose: string }): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, keyOf(secret, purpose), iv)
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')
}

/** The string that was sealed with one of the secrets; undefined for anything else. */
export function openSealedValue(
  value: string,
  { secrets, purpose }: { secrets: readonly string[]; purpose: string },
): string | undefined {
  const bytes = Buffer.from(value, 'base64url')
  if (bytes.length < IV_BYTES + TAG_BYTES) {
    return undefined
  }
  for (const secret of secrets) {
    const text = tryToOpen(bytes, keyOf(secret, purpose))
    if (text !== undefined) {
      return text
    }
  }
  return undefined
}

function tryToOpen(bytes: Buffer, key: Buffer): string | undefined {
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES))
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

function keyOf(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, KEY_BYTES))
}

/** Whether two strings are the same, in a time that depends on their lengths alone. */
export function isSameString(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** The SHA-256 digest of a string, encoded as UTF-8, in lower-case hex. */
export function sha256Hex(text: string): string {
  return hash('sha256', text)
}

/** Random characters. Bytes above 247, about one in thirty, are thrown away; four times as many bytes as characters are enough. */
export function randomBase62(count: number): string {
  return base62FromBytes(randomBytes(count * 4), count)
}
