import { InvalidRequestError } from '../errors.ts'

/** The response header that names ignored fields, query parameters and headers of a request, so that a client can find a misspelt parameter. */
export const IGNORED_HEADER = 'x-reelgate-ignored'

/** A header of this size passes every common proxy. */
const NAMES_MAX = 20
const BYTES_MAX = 1024

const SEPARATOR = ', '

/** Makes an empty name visible. */
const EMPTY_NAME = '""'

/**
 * The header for these names; empty if there are none. Names come from the client, so each is percent-encoded. Names that do
 * not fit are left out.
 */
export function ignoredHeader(names: readonly string[]): Record<string, string> {
  let value = ''
  for (const name of names.slice(0, NAMES_MAX)) {
    const encoded = encodeURIComponent((name === '' ? EMPTY_NAME : name).toWellFormed())
    const longer = value === '' ? encoded : value + SEPARATOR + encoded
    if (longer.length > BYTES_MAX) {
      break
    }
    value = longer
  }
  return value === '' ? {} : { [IGNORED_HEADER]: value }
}

/** What a request has that nobody reads: names of query parameters and headers, and paths of fields of its body. */
export type IgnoredParts = {
  readonly query: readonly string[]
  readonly headers: readonly string[]
  readonly fields: readonly string[]
}

/** Longer names are cut in an error; a header has its own limits. */
const NAME_CHARACTERS_MAX = 64

/**
 * Refuses a request that prefers strict handling and has a part that would be ignored. The error names each of them, fields
 * first, at most 20.
 * @throws InvalidRequestError if there is any.
 */
export function refuseIgnored({ query, headers, fields }: IgnoredParts): void {
  const parts = [
    ...fields.map((name) => ({ name, kind: 'field' })),
    ...query.map((name) => ({ name, kind: 'query parameter' })),
    ...headers.map((name) => ({ name, kind: 'header' })),
  ].slice(0, NAMES_MAX)
  const issues = parts.map(({ name, kind }) => {
    const path = name.slice(0, NAME_CHARACTERS_MAX)
    return { path, message: `the ${kind} \`${path}\` would be ignored: correct its name or leave it out` }
  })
  if (issues.length > 0) {
    const names = issues.map(({ path }) => `\`${path}\``).join(', ')
    const summary = `these would be ignored: ${names}; correct their names or leave them out`
    throw new InvalidRequestError(issues, issues.length > 1 ? summary : undefined)
  }
}

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
