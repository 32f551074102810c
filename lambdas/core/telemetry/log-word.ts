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
