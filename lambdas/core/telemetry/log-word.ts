/** The longest status word that a document lists has 11 characters; a number of this length is none. */
const CHARACTERS_MAX = 40

/** All but printable ASCII: control characters, line ends of every script, letters that look like others. */
const NOT_PRINTABLE = /[^\x20-\x7e]/g

/**
 * A short word or number of an upstream as it may stand in a log line: printable ASCII, anything else as `\u001b`, cut with
 * `...` where nobody would call it a word any more. For words and numbers only, never for an upstream's sentences.
 */
export function logWord(text: string): string {
  const escaped = text
    .slice(0, CHARACTERS_MAX)
    .replaceAll(NOT_PRINTABLE, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return text.length > CHARACTERS_MAX ? `${escaped}...` : escaped
}
