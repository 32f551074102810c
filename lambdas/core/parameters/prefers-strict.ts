/** One lexeme of `Prefer`: a token, a quoted string, or a separator. Each match ends where the next begins, so reading takes linear time. */
const LEXEME = /[\t ]*(?:([!#$%&'*+.^_`|~\dA-Za-z-]+)|"((?:[^"\\]|\\.)*)"|([=;,]))/gy

/**
 * Whether a request prefers strict handling: `Prefer: handling=strict` (RFC 7240, sections 2 and 4.4). Names and values are
 * case-insensitive, the value may be quoted, and of several `handling` the first counts. Malformed text ends the reading of
 * its line.
 * @param lines the values of the header, in their order.
 */
export function prefersStrict(lines: readonly string[]): boolean {
  for (const line of lines) {
    for (const { name, value } of preferences(line)) {
      if (name === 'handling') {
        return value === 'strict'
      }
    }
  }
  return false
}

/** Lower-case names and values. An absent value is empty, as in the RFC. */
type Preference = { readonly name: string; readonly value: string }

function* preferences(line: string): Generator<Preference> {
  let name: string | undefined
  let value: string | undefined
  let isName = true
  for (const [, token, quoted, separator] of line.matchAll(LEXEME)) {
    if (separator === ',') {
      yield { name: name ?? '', value: value ?? '' }
      name = undefined
      value = undefined
      isName = true
    } else if (separator !== undefined) {
      // What follows a semicolon is a parameter of the preference, not its value.
      isName = false
      value ??= separator === ';' ? '' : undefined
    } else if (isName) {
      name ??= token?.toLowerCase() ?? ''
    } else {
      value ??= (token ?? quoted?.replaceAll(/\\(.)/g, '$1') ?? '').toLowerCase()
    }
  }
  yield { name: name ?? '', value: value ?? '' }
}
