import { once } from 'node:events'
import type { Context } from 'aws-lambda'
import { isStreaming, type ResponseSink, ResponseStream, streamForHandler } from '#local/awslambda.ts'
import { type FramedAnswer, parseFraming } from './framing-parser.ts'

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
