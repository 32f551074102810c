import { describe, expect, it } from 'vitest'
import { isEventStream } from '#core/relay/sse-events.ts'

describe('the answer to a request for a stream', () => {
  it.each(['text/event-stream', 'Text/Event-Stream; charset=UTF-8', 'text/event-stream ;x=1', undefined])(
    'of the type %s is one',
    (contentType) => {
      expect(isEventStream(contentType)).toBe(true)
    },
  )

  it.each(['application/json', 'text/plain', 'text/event-streams', 'application/text/event-stream', ''])(
    'of the type %j is a whole answer',
    (contentType) => {
      expect(isEventStream(contentType)).toBe(false)
    },
  )
})
