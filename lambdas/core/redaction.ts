const LABEL = '[redacted]'

/** API keys, admin keys, tokens of sessions, callback secrets, tokens (JWT), private keys, SHA-256 digests, and signatures of urls. */
const SECRETS =
  /rg_[a-z]+_[0-9A-Za-z]{8}_[0-9A-Za-z]+|\b[0-9A-Za-z]{16}\.(?:n|[ak][0-9A-Za-z]+)\.[0-9A-Za-z_-]{43}|\beyJ[0-9A-Za-z_-]+\.[0-9A-Za-z_-]+\.[0-9A-Za-z_-]*|whsec_[0-9A-Za-z+/=_-]+|-----BEGIN.*|\b[0-9a-f]{64}\b|(?<=[?&](?:X-Amz-)?Signature=)[^&\s]+/gs

/** A string without what looks like a secret of this service: an operator may paste one into a name or a reason by mistake. */
export function withoutSecrets(text: string): string {
  return text.replace(SECRETS, LABEL)
}

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

/** Replaces hexadecimal digests, such as signatures of requests. */
export function withoutDigests(text: string): string {
  return text.replace(/[0-9a-f]{64,}/gi, LABEL)
}

/** Replaces names of resources of AWS, which contain the number of an account. */
export function withoutArns(text: string): string {
  return text.replace(/\barn(?::|%3a)aws[a-z-]*(?::|%3a)[\w:/.*\\@=+%-]+/gi, LABEL)
}

function withoutCredential(text: string, credential: string): string {
  const mayHoldIt = text.includes(credential) || /[\\%]/.test(text)
  return mayHoldIt ? text.replace(patternOf(credential), LABEL) : text
}

function patternOf(credential: string): RegExp {
  return new RegExp(formsOfText(credential), 'g')
}

function formsOfText(text: string): string {
  return Array.from(text, formsOf).join('')
}

/**
 * Creates a filter that writes the public id of a model in place of the upstream's own, which may say who the upstream is. It finds the
 * id as a word in JSON, in the forms of {@link credentialFilter}; names of fields stay.
 */
export function publicModelFilter(upstreamModel: string, publicModel: string): CredentialFilter {
  if (upstreamModel === publicModel) {
    return (text) => text
  }
  // Few replies are refusals, so the pattern is made when there is one. In JSON, a letter after a backslash is a line end or a tab.
  let word: RegExp | undefined
  return (text) => {
    word ??= new RegExp(`(?:(?<!\\w)|(?<=\\\\[nrt]))${formsOfText(upstreamModel)}(?!\\w|"\\s*:)`, 'g')
    return text.replace(word, () => publicModel)
  }
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

/**
 * C0 and C1 controls, DEL, Unicode line separators and direction marks: characters that a terminal obeys instead of showing them, or
 * that change the order of the others.
 */
const CONTROL = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** A string that is safe on a terminal: characters that would move the cursor, colour or hide are escaped as `\u{1b}`. */
export function printable(text: string): string {
  return text.replace(CONTROL, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

/** The same for several lines, which stay separate. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

/** Whether {@link printable} leaves a string unchanged. */
export function isPrintable(text: string): boolean {
  return printable(text) === text
}

/** JSON on one line that is safe on a terminal: the same characters are escaped, so that a program reads the exact value. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(
    CONTROL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Longer than any status word of an upstream; the longest documented one has 11 characters. */
const CHARACTERS_MAX = 40

/** Control characters, line ends of every script, and letters that look like others. */
const NOT_PRINTABLE = /[^\x20-\x7e]/g

/**
 * Makes a short word or number of an upstream safe for a log line: characters other than printable ASCII become escapes such
 * as `\u001b`, and a long string is cut with `...`. Never use it for sentences of an upstream.
 */
export function logWord(text: string): string {
  const escaped = text
    .slice(0, CHARACTERS_MAX)
    .replaceAll(NOT_PRINTABLE, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return text.length > CHARACTERS_MAX ? `${escaped}...` : escaped
}
