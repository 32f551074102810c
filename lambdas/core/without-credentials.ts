/** What stands in the place of a credential. */
const LABEL = '[redacted]'

/** A shorter one is no key of a real upstream, and would be found inside ordinary words. */
const CREDENTIAL_CHARACTERS_MIN = 8

/** Nobody escapes deeper than this; without a bound, a text of nothing but backslashes would take for ever. */
const ESCAPES_MAX = 8

/** Puts a label in the place of every credential of one call. */
export type CredentialFilter = (text: string) => string

/**
 * For the credentials that a channel was called with: an upstream, or a proxy in front of it, may repeat the headers of a
 * request in its error. They are found as they are, with any character escaped as in JSON or percent-encoded as in a url,
 * also several times over. Bytes given as text, one character for each, will do as well.
 */
export function credentialFilter(credentials: readonly string[]): CredentialFilter {
  const sought = credentials.filter(({ length }) => length >= CREDENTIAL_CHARACTERS_MIN)
  return (text) => sought.reduce(withoutCredential, text)
}

function withoutCredential(text: string, credential: string): string {
  const mayHoldIt = text.includes(credential) || /[\\%]/.test(text)
  return mayHoldIt ? text.replace(patternOf(credential), LABEL) : text
}

function patternOf(credential: string): RegExp {
  return new RegExp(Array.from(credential, formsOf).join(''), 'g')
}

/** `a`, `\a`, `\u0061`, `\\u0061`, `%61`, `%2561`. */
function formsOf(character: string): string {
  const code = character.charCodeAt(0)
  const literal = `\\u${hex(code, 4)}`
  const escaped = `\\\\{1,${ESCAPES_MAX}}u${anyCase(hex(code, 4))}`
  const encoded = `%(?:25){0,${ESCAPES_MAX}}${anyCase(hex(code, 2))}`
  return `(?:\\\\{0,${ESCAPES_MAX}}${literal}|${escaped}|${encoded})`
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0')
}

function anyCase(digits: string): string {
  return digits.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
}
