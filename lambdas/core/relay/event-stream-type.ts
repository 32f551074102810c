/** Media types are compared without case, and may have parameters (RFC 9110, section 8.3.1). */
const EVENT_STREAM = /^\s*text\/event-stream\s*(;|$)/i

/**
 * Whether the answer to a request for a stream is one, by its content type. An upstream that names none means what it was
 * asked for; any other type is a whole answer in place of a stream.
 */
export function isEventStream(contentType: string | undefined): boolean {
  return EVENT_STREAM.test(contentType ?? 'text/event-stream')
}
