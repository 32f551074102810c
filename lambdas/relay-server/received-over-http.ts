import type { IncomingMessage } from 'node:http'
import type { ReceivedRequest } from '#middleware/api-event.ts'

/** Lambda Web Functions name each request in this header; a client's own is removed by the platform. */
const PLATFORM_REQUEST_ID = 'lambda-web-request-id'

/** The path of a request target, and the names of its query parameters. */
export type RequestTarget = Pick<ReceivedRequest, 'path' | 'queryNames'>

/** @param url a path with its query, such as `/v1/models?a=1`. */
export function readTarget(url = '/'): RequestTarget {
  const end = url.indexOf('?')
  return end < 0
    ? { path: url, queryNames: [] }
    : { path: url.slice(0, end), queryNames: [...new Set(new URLSearchParams(url.slice(end)).keys())] }
}

/** A request of Node's HTTP server, after its body was read. */
export function receivedOverHttp(
  { rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>,
  { path, queryNames }: RequestTarget,
  body: Buffer,
): ReceivedRequest {
  return {
    path,
    queryNames,
    headerLines: (name) => headerLinesOf(rawHeaders, name),
    body,
    platformRequestId: headerLinesOf(rawHeaders, PLATFORM_REQUEST_ID).at(-1),
  }
}

const NONE: readonly string[] = []

/** Looks the few headers up that anybody asks for, instead of reading all of them into an object. @param name in lower case. */
function headerLinesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  let lines = NONE
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const written = rawHeaders[index] ?? ''
    if (written.length === name.length && written.toLowerCase() === name) {
      lines = [...lines, rawHeaders[index + 1] ?? '']
    }
  }
  return lines
}
