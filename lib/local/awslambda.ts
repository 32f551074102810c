import type { StreamifyHandler } from 'aws-lambda'
import type { ResponseStream } from './response-stream.ts'

/**
 * Defines the global `awslambda` as Lambda's runtime has it. Import this before any module that names the global:
 * handlers wrap themselves when they are loaded.
 */

/** NUL bytes between the metadata and the body of a streamed answer. */
const DELIMITER_BYTES = 8

/** The members of a stream by which an answer is framed. */
type Framed = Pick<ResponseStream, 'setContentType' | '_onBeforeFirstWrite'>

/** The mark by which Lambda's runtime knows a handler that streams. */
const STREAMING = Symbol.for('aws.lambda.runtime.handler.streaming')

/** Whether a handler was wrapped with `awslambda.streamifyResponse`; Lambda gives any other one no stream. */
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
   * @returns the stream itself, whose first write is preceded by the metadata and the delimiter.
   * @throws ContentTypeTooLateError when something was written already.
   */
  from<Stream extends Framed>(stream: Stream, metadata: Record<string, unknown>): Stream {
    stream.setContentType('application/vnd.awslambda.http-integration-response')
    // JSON text has no NUL, because it escapes control characters: the first one begins the delimiter.
    const prelude = JSON.stringify(metadata)
    stream._onBeforeFirstWrite = (write) => {
      write(prelude)
      write(new Uint8Array(DELIMITER_BYTES))
    }
    return stream
  },
}

// Libraries of a handler may have put something of theirs there already.
Object.assign(globalThis, {
  awslambda: { ...Reflect.get(globalThis, 'awslambda'), streamifyResponse, HttpResponseStream },
})
