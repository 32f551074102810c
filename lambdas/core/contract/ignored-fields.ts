/** Names what a request said and nobody looked at: its client may have misspelt a parameter. */
export const IGNORED_HEADER = 'x-reelgate-ignored'

/** A header that every proxy on the way takes. */
const NAMES_MAX = 20
const BYTES_MAX = 1024

const SEPARATOR = ', '

/** An empty name would not be seen. */
const EMPTY_NAME = '""'

/**
 * The header for these fields; none where nothing was ignored. Names are the client's own text, so each is percent-encoded;
 * those that no longer fit are left out.
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
