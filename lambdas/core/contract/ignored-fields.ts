/** The response header that names ignored fields of the request, so that a client can find a misspelt parameter. */
export const IGNORED_HEADER = 'x-reelgate-ignored'

/** A header of this size passes every common proxy. */
const NAMES_MAX = 20
const BYTES_MAX = 1024

const SEPARATOR = ', '

/** Makes an empty name visible. */
const EMPTY_NAME = '""'

/**
 * The header for these fields; empty if there are none. Names come from the client, so each is percent-encoded. Names that do
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
