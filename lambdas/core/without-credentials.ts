const LABEL = '[redacted]'

/** Real upstream keys are longer; a shorter string could occur in ordinary words. */
const CREDENTIAL_CHARACTERS_MIN = 8

/** Deepest nesting of escapes; bounds the search in a text of backslashes. */
const ESCAPES_MAX = 8

/** Replaces the credentials of a call by a label. */
export type CredentialFilter = (text: string) => string

/**
 * Creates a filter for the credentials of a channel, because the error of an upstream, or of a proxy, may repeat the headers of
 * the request. It finds credentials as they are and with any character escaped as in JSON or percent-encoded as in a url, also
 * repeatedly. Text may hold one character per byte.
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
