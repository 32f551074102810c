import { type ApiEvent, headerLinesOf, headerOf } from './api-event.ts'

/** An HTTP request as every operation may read it, whichever server received it. */
export type ReceivedRequest = {
  /** Without the query. */
  readonly path: string
  /** Names of the query parameters. */
  readonly queryNames: readonly string[]
  /** Every value of a header, in the order of its lines. @param name in lower case. */
  readonly headerLines: (name: string) => readonly string[]
  /** All bytes of the body; none without a body. */
  readonly body: Buffer
  /** The id that a platform in front of the server gave the request; undefined without one. */
  readonly platformRequestId: string | undefined
}

/** The value of a header, the last of several. @param name in lower case. */
export function headerValue({ headerLines }: Pick<ReceivedRequest, 'headerLines'>, name: string): string | undefined {
  return headerLines(name).at(-1)
}

/** The request in an event of API Gateway. Its body is decoded each time that it is read. */
export function receivedRequest(event: ApiEvent): ReceivedRequest {
  return {
    path: event.path,
    queryNames: Object.keys(event.queryStringParameters ?? {}),
    headerLines: (name) => {
      const lines = headerLinesOf(event, name)
      // Some emulators send `headers` alone.
      const only = lines.length === 0 ? headerOf(event, name) : undefined
      return only === undefined ? lines : [only]
    },
    get body() {
      return Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8')
    },
    platformRequestId: event.requestContext?.requestId,
  }
}
