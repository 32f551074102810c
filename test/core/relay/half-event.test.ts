import { describe, expect, it } from 'vitest'
import { isHalfEvent, SseEventReader } from '#core/relay/sse-events.ts'

function isHalf(rest: string): boolean {
  const reader = new SseEventReader()
  reader.push(rest)
  const event = reader.end()
  if (event === undefined) {
    throw new TypeError('nothing was left')
  }
  return isHalfEvent(event)
}

describe('the rest of a stream that ends without a blank line', () => {
  it.each([
    'data: {"choices":[{"delta":{"content":"wor',
    'data: {"id":"chatcmp',
    'data: ',
    'data',
    'id: 5\n',
    'data: [DO',
  ])('is half an event when it is %j', (rest) => {
    expect(isHalf(rest)).toBe(true)
  })

  it.each(['data: [DONE]', 'data:[DONE]\n', 'data: {"choices":[]}', 'data: {"a":\ndata: 1}\r\n', ': bye', '\n'])(
    'is none when it is %j',
    (rest) => {
      expect(isHalf(rest)).toBe(false)
    },
  )
})
