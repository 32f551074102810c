import type { StreamifyHandler } from 'aws-lambda'
import type { ResponseStream } from './response-stream.ts'

/**
 * Defines the global `awslambda` like Lambda's runtime. Import this before any module that uses the global, because handlers wrap
 * themselves when they are loaded.
 */

/** NUL bytes between the metadata and the body of a streamed response. */
const DELIMITER_BYTES = 8

/** The parts of a stream that frame a response. */
type Framed = Pick<ResponseStream, 'setContentType' | '_onBeforeFirstWrite'>

/** Marks a streaming handler for Lambda's runtime. */
const STREAMING = Symbol.for('aws.lambda.runtime.handler.streaming')

/** Whether a handler was wrapped with `awslambda.streamifyResponse`; Lambda passes a stream to no other handler. */
export function isStreaming(handler: unknown): handler is StreamifyHandler {
  return typeof handler === 'function' && STREAMING in handler
}

/** @returns the handler itself, marked. */
function streamifyResponse<Handler extends object>(handler: Handler): Handler {
  return Object.assign(handler, { [STREAMING]: 'response' })
}

const HttpResponseStream = {
  /**
   * @param metadata statusCode, headers, multiValueHeaders and cookies, all optional.
   * @returns the stream itself; the metadata and the delimiter precede its first write.
   * @throws ContentTypeTooLateError after the first write.
   */
  from<Stream extends Framed>(stream: Stream, metadata: Record<string, unknown>): Stream {
    stream.setContentType('application/vnd.awslambda.http-integration-response')
    // JSON escapes control characters, so the first NUL begins the delimiter.
    const prelude = JSON.stringify(metadata)
    stream._onBeforeFirstWrite = (write) => {
      write(prelude)
      write(new Uint8Array(DELIMITER_BYTES))
    }
    return stream
  },
}

// A library of a handler may have defined the global already.
Object.assign(globalThis, {
  awslambda: { ...Reflect.get(globalThis, 'awslambda'), streamifyResponse, HttpResponseStream },
})
