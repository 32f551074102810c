/**
 * C0 and C1 controls, DEL, the line separators of Unicode and the marks that turn the direction of a text: what a terminal
 * obeys instead of showing it, or shows in another order than it is.
 */
const CONTROL = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** A text as a terminal may show it: what would move the cursor, colour or hide is written as `\u{1b}`. */
export function printable(text: string): string {
  return text.replace(CONTROL, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

/** The same for a text of several lines, which stay lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

/** Whether a text has something in it that {@link printable} would not let through. */
export function isPrintable(text: string): boolean {
  return printable(text) === text
}
