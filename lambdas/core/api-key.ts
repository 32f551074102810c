/**
 * API keys: `rg_live_` + 8 base62 (public id) + `_` + 32 base62 (secret) + 6 base62 (CRC32 of everything before). The checksum
 * makes it possible to refuse a mistyped or invented key without a read of the table. Admin keys, with which people sign in to the
 * console, begin with `rg_admin_` and are alike otherwise.
 */
const PREFIX = 'rg_live_'
const ADMIN_PREFIX = 'rg_admin_'
const KEY_PATTERN = /^rg_live_([0-9A-Za-z]{8})_[0-9A-Za-z]{32}[0-9A-Za-z]{6}$/
const ADMIN_KEY_PATTERN = /^rg_admin_([0-9A-Za-z]{8})_[0-9A-Za-z]{32}[0-9A-Za-z]{6}$/
const CHECKSUM_CHARACTERS = 6
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Longer than any key; a longer string is refused before it is hashed. */
const KEY_CHARACTERS_MAX = 512

/**
 * Reads `Authorization: Bearer <key>`: a case-insensitive scheme, exactly one space, and a key of visible ASCII.
 * @param takesTokens whether a token of an issuer may stand for a key, which is of any length.
 */
export function bearerKey(header: string | undefined, takesTokens = false): string | undefined {
  const key = /^bearer ([\x21-\x7e]+)$/i.exec(header ?? '')?.[1]
  const isToken = takesTokens && isLikeToken(key ?? '')
  return key !== undefined && (isToken || key.length <= KEY_CHARACTERS_MAX) ? key : undefined
}

/** Begins every token with a JSON header, `{"`, and no key that the gateway makes. */
const TOKEN_START = 'eyJ'

/** Whether a bearer may be a token of an issuer. */
export function isLikeToken(bearer: string): boolean {
  return bearer.startsWith(TOKEN_START)
}

/**
 * False for an admin key, which no route of the API takes, and for a key with the gateway's prefix and a wrong form or checksum.
 * Keys without the prefix exist in local testing.
 */
export function isPlausibleKey(key: string): boolean {
  if (!key.startsWith(PREFIX)) {
    return !isLikeAdminKey(key)
  }
  return KEY_PATTERN.test(key) && hasChecksum(key)
}

/** Whether a string is an admin key, or a mistyped one. */
export function isLikeAdminKey(key: string): boolean {
  return key.startsWith(ADMIN_PREFIX)
}

/** The public id in an admin key; undefined for a key of another form, or with a wrong checksum. */
export function adminKeyIdOf(key: string): string | undefined {
  const keyId = ADMIN_KEY_PATTERN.exec(key)?.[1]
  return keyId !== undefined && hasChecksum(key) ? keyId : undefined
}

/** The public id in a key; undefined for a key of another form. */
export function keyIdOf(key: string): string | undefined {
  return KEY_PATTERN.exec(key)?.[1]
}

/** Builds a key from random base62 parts of 8 and 32 characters. */
export function formatApiKey(keyId: string, secret: string): string {
  return withChecksum(`${PREFIX}${keyId}_${secret}`)
}

/** Builds an admin key from random base62 parts of 8 and 32 characters. */
export function formatAdminKey(keyId: string, secret: string): string {
  return withChecksum(`${ADMIN_PREFIX}${keyId}_${secret}`)
}

function withChecksum(body: string): string {
  return body + checksum(body)
}

function hasChecksum(key: string): boolean {
  return key.endsWith(checksum(key.slice(0, -CHECKSUM_CHARACTERS)))
}

/**
 * Makes `count` base62 characters from random bytes. Bytes of 248 and above are skipped, so that all characters are equally
 * likely.
 * @throws RangeError if too few bytes are left.
 */
export function base62FromBytes(bytes: Uint8Array, count: number): string {
  const usable = Array.from(bytes).filter((byte) => byte < 248)
  if (usable.length < count) {
    throw new RangeError(`${count} characters need more random bytes`)
  }
  return usable
    .slice(0, count)
    .map((byte) => ALPHABET.charAt(byte % 62))
    .join('')
}

function checksum(text: string): string {
  let rest = crc32(text)
  let result = ''
  for (let index = 0; index < CHECKSUM_CHARACTERS; index += 1) {
    result = ALPHABET.charAt(rest % 62) + result
    rest = Math.trunc(rest / 62)
  }
  return result
}

/** CRC-32 (IEEE 802.3, reflected polynomial 0xEDB88320) of an ASCII string. */
function crc32(text: string): number {
  let crc = 0xffffffff
  for (const character of text) {
    crc ^= character.charCodeAt(0)
    for (let bit = 0; bit < 8; bit += 1) {
      crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
    }
  }
  return (crc ^ 0xffffffff) >>> 0
}
