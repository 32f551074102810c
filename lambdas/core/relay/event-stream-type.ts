/** Media types are compared without case, and may have parameters (RFC 9110, section 8.3.1). */
const EVENT_STREAM = /^\s*text\/event-stream\s*(;|$)/i

/**
 * Whether the reply to a request for a stream is a stream, by its content type. A reply without a type is taken for the
 * stream that was asked for; any other type is a whole reply.
 */
export function isEventStream(contentType: string | undefined): boolean {
  return EVENT_STREAM.test(contentType ?? 'text/event-stream')
}
