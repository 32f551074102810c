/** A short name with an extension, as people give to files. Anything else may be a secret that stands in for a key. */
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._ -]{0,78}\.[A-Za-z0-9]{2,5}$/

/**
 * How a client is told which reference is meant: its place in the request and, of a link, the file's name. Nothing else of a
 * url is shown, because links may be signed in their query, and in their path.
 */
export function referenceName(place: string, url: string): string {
  const fileName = fileNameOf(url)
  return fileName === undefined ? place : `${place} (${fileName})`
}

/** What `referenceName` begins with, the name apart. */
const NAMED_PLACE = /^((?:image|video)_urls\[\d+\]) \([A-Za-z0-9][A-Za-z0-9._ -]*\)/

/**
 * A sentence that begins with the name of a reference, with its place alone: for operators and logs, because a file's name may
 * be a secret of its client. Any other sentence is left as it is.
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
