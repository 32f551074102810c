/** A short name with an extension, as people name files. Anything else may be a secret. */
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._ -]{0,78}\.[A-Za-z0-9]{2,5}$/

/**
 * Names a reference for the client: its place in the request and, for a link, the name of the file. The rest of a url is not
 * shown, because its query and its path may hold a signature.
 */
export function referenceName(place: string, url: string): string {
  const fileName = fileNameOf(url)
  return fileName === undefined ? place : `${place} (${fileName})`
}

/** The output of `referenceName`; the place is captured without the name of the file. */
const NAMED_PLACE = /^((?:image|video)_urls\[\d+\]) \([A-Za-z0-9][A-Za-z0-9._ -]*\)/

/**
 * Removes the name of the file from a sentence that begins with a reference, because the name may be a client's secret, and
 * operators and logs must not show it. Any other sentence stays as it is.
 */
export function withoutFileName(sentence: string): string {
  return sentence.replace(NAMED_PLACE, '$1')
}

function fileNameOf(url: string): string | undefined {
  const segment = /^https?:/i.test(url) ? URL.parse(url)?.pathname.split('/').at(-1) : undefined
  return segment !== undefined && FILE_NAME.test(decoded(segment)) ? decoded(segment) : undefined
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
