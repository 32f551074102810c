/** A streamed Lambda answer, read from the bytes that Lambda hands to API Gateway. */
export type FramedAnswer = {
  readonly statusCode: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** The bytes are not what API Gateway documents for a streamed answer. */
export class FramingError extends Error {
  override readonly name = 'FramingError'
}

/** The delimiter must end inside the first 16 KB. */
const PRELUDE_BYTES_MAX = 16_384
const DELIMITER_BYTES = 8
const MEMBERS = ['statusCode', 'headers', 'multiValueHeaders', 'cookies']

/**
 * Reads a whole streamed answer and is stricter than API Gateway: metadata with an integer status and headers that are
 * texts, no second time the same name, then exactly eight NUL bytes, within the first 16 KB, then the body, as long as
 * its content-length says. Shares nothing with the parser of the local host, which it checks.
 * @param options.isCut the reader left, so the body may be shorter than promised.
 * @throws FramingError
 */
export function parseFraming(raw: Buffer, { isCut = false } = {}): FramedAnswer {
  let end = 0
  while (end < raw.length && raw[end] !== 0) {
    end += 1
  }
  let bodyStart = end
  while (bodyStart < raw.length && raw[bodyStart] === 0) {
    bodyStart += 1
  }
  require(bodyStart - end === DELIMITER_BYTES, `${bodyStart - end} NUL bytes follow the metadata`)
  require(bodyStart <= PRELUDE_BYTES_MAX, `the prelude has ${bodyStart} bytes`)
  const { statusCode, headers } = readMetadata(raw.subarray(0, end))
  const body = raw.subarray(bodyStart)
  const promised = headers['content-length']
  const isWhole = promised === undefined || promised === String(body.length)
  require(isWhole || isCut, `content-length ${promised} before ${body.length} bytes`)
  return { statusCode, headers, body }
}

function require(isTrue: boolean, otherwise: string): void {
  if (!isTrue) {
    throw new FramingError(otherwise)
  }
}

function readMetadata(bytes: Buffer): Omit<FramedAnswer, 'body'> {
  const metadata = readObject(parse(bytes), 'the metadata')
  const strange = Object.keys(metadata).filter((name) => !MEMBERS.includes(name))
  require(strange.length === 0, `the metadata has ${strange.join(', ')}`)
  const { statusCode, headers = {} } = metadata
  if (typeof statusCode !== 'number' || !Number.isInteger(statusCode) || statusCode < 200 || statusCode > 599) {
    throw new FramingError(`the status is ${JSON.stringify(statusCode)}`)
  }
  return { statusCode, headers: readHeaders(readObject(headers, 'headers')) }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch (cause) {
    throw new FramingError('the metadata is not JSON', { cause })
  }
}

function readObject(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FramingError(`${name} is no object`)
  }
  return { ...value }
}

function readHeaders(headers: Record<string, unknown>): Record<string, string> {
  const read = new Map<string, string>()
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase()
    require(/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(key), `${JSON.stringify(name)} is no name of a header`)
    require(!read.has(key), `the header ${key} is there twice`)
    // Visible ASCII, blanks and tabs: what every client reads alike.
    if (typeof value !== 'string' || !/^[\t\x20-\x7e]*$/.test(value)) {
      throw new FramingError(`the header ${key} is ${JSON.stringify(value)}`)
    }
    read.set(key, value)
  }
  return Object.fromEntries(read)
}
