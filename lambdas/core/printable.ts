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
