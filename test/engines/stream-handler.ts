import { once } from 'node:events'
import type { Context } from 'aws-lambda'
import { isStreaming, type ResponseSink, ResponseStream, streamForHandler } from '#local/awslambda.ts'

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

/** Who reads a streamed answer. Without any of these: one who takes every chunk at once. */
export type StreamClient = {
  /** Bytes that may wait before `write` answers false. */
  readonly highWaterMark?: number
  /** Called with every chunk; the next one comes when it has resolved. A slow client, or one whom a test holds up. */
  readonly read?: (chunk: Buffer) => Promise<void> | void
  /** Leaves as soon as it has so many bytes of the body; 0 leaves with the head. */
  readonly leavesAfterBytes?: number
  /** Leaves when this resolves, even before the head. */
  readonly leavesAfter?: Promise<void>
}

type Chunk = { readonly bytes: Buffer; readonly atMilliseconds: number }

export type StreamRun = FramedAnswer & {
  /** The body in UTF-8. */
  readonly text: string
  /** As they came, prelude included, with the time since the invocation. */
  readonly chunks: readonly Chunk[]
  readonly raw: Buffer
  readonly hasLeft: boolean
  /** The answer did not come to its end: the client left, or the handler gave it up. */
  readonly isCut: boolean
  /** When the client had the last byte or left; what the handler did later, it did behind its answer. */
  readonly endedAtMilliseconds: number
  readonly resolvedAtMilliseconds: number
}

type StreamInvocation = {
  /** Import `#local/awslambda.ts` before the module that this comes from. */
  readonly streamHandler: unknown
  readonly event: unknown
  readonly context?: Partial<Context>
  readonly client?: StreamClient
}

/**
 * Invokes a streaming handler in this process as Lambda would, until its promise resolves, and checks the framing of
 * what it wrote. @throws what the handler throws; FramingError; an error when it leaves its answer open.
 */
export async function runStreamHandler(invocation: StreamInvocation): Promise<StreamRun> {
  const { streamHandler, event, context = {}, client = {} } = invocation
  if (!isStreaming(streamHandler)) {
    throw new TypeError('not from awslambda.streamifyResponse: import #local/awslambda.ts before the handler')
  }
  const reader = new Reader(client)
  await streamHandler(event, streamForHandler(reader.stream), { ...CONTEXT, ...context })
  const resolvedAtMilliseconds = reader.now()
  await reader.ended()
  const raw = Buffer.concat(reader.chunks.map(({ bytes }) => bytes))
  const answer = parseFraming(raw, { isCut: !reader.stream.writableFinished })
  return {
    ...answer,
    text: answer.body.toString('utf8'),
    chunks: reader.chunks,
    raw,
    hasLeft: reader.hasLeft,
    isCut: !reader.stream.writableFinished,
    endedAtMilliseconds: reader.endedAtMilliseconds,
    resolvedAtMilliseconds,
  }
}

/** The other end of the stream. */
class Reader implements ResponseSink {
  readonly stream: ResponseStream
  readonly chunks: Chunk[] = []
  endedAtMilliseconds = Number.NaN
  hasLeft = false
  readonly #client: StreamClient
  readonly #startedAt = performance.now()
  #bytes = 0
  /** Undefined until the delimiter has come. */
  #bodyStart: number | undefined

  constructor(client: StreamClient) {
    this.#client = client
    this.stream = new ResponseStream(this, client.highWaterMark)
    void client.leavesAfter?.then(() => this.#leave())
  }

  now(): number {
    return performance.now() - this.#startedAt
  }

  take(bytes: Buffer, taken: () => void): void {
    this.chunks.push({ bytes: Buffer.from(bytes), atMilliseconds: this.now() })
    this.#bytes += bytes.length
    this.#bodyStart ??= this.#findBody()
    const { read, leavesAfterBytes = Number.POSITIVE_INFINITY } = this.#client
    if (this.#bodyStart !== undefined && this.#bytes - this.#bodyStart >= leavesAfterBytes) {
      this.#leave()
      return
    }
    const reading = read?.(bytes)
    if (reading === undefined) {
      taken()
    } else {
      void reading.then(taken)
    }
  }

  end(): void {
    this.endedAtMilliseconds = this.now()
  }

  async ended(): Promise<void> {
    if (!(this.stream.writableEnded || this.stream.destroyed)) {
      throw new TypeError('the handler resolved and left its answer open')
    }
    if (!this.stream.closed) {
      await once(this.stream, 'close')
    }
  }

  #leave(): void {
    this.hasLeft = true
    this.endedAtMilliseconds = this.now()
    this.stream.abandon()
  }

  #findBody(): number | undefined {
    const index = Buffer.concat(this.chunks.map(({ bytes }) => bytes)).indexOf(Buffer.alloc(8))
    return index === -1 ? undefined : index + 8
  }
}

const CONTEXT: Context = {
  callbackWaitsForEmptyEventLoop: false,
  functionName: 'function',
  functionVersion: '$LATEST',
  invokedFunctionArn: 'arn:aws:lambda:local:000000000000:function:function',
  memoryLimitInMB: '1024',
  awsRequestId: 'invocation-1',
  logGroupName: 'group',
  logStreamName: 'stream',
  getRemainingTimeInMillis: () => 900_000,
  done: () => {},
  fail: () => {},
  succeed: () => {},
}
