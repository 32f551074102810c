import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { afterChunk, announcementOf, FIRST_REPLY, plainNumber, STOPPED } from '#web/core/playground/chat-reply.ts'
import { ServerSentEvents } from '#web/core/playground/sse.ts'

describe('afterChunk', () => {
  it('collects the content, the time of its first piece, and the usage with its cost', () => {
    const chunks = [
      '{"choices":[{"delta":{"role":"assistant"}}]}',
      '{"choices":[{"delta":{"content":"hel"}}]}',
      '{"choices":[{"delta":{"content":"lo"}}]}',
      '{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"cost":0.0000021}}',
      '[DONE]',
    ]
    const reply = chunks.reduce((before, chunk, index) => afterChunk(before, chunk, index * 10), FIRST_REPLY)
    expect(reply).toEqual({
      content: 'hello',
      firstMilliseconds: 10,
      totalMilliseconds: 40,
      inputTokens: 7,
      outputTokens: 2,
      cost: 0.0000021,
      error: undefined,
      isDone: true,
    })
  })

  it('keeps what has arrived when the stream ends with an error', () => {
    const begun = afterChunk(FIRST_REPLY, '{"choices":[{"delta":{"content":"hel"}}]}', 5)
    expect(afterChunk(begun, '{"error":{"message":"the upstream broke off"}}', 9)).toMatchObject({
      content: 'hel',
      error: 'the upstream broke off',
    })
  })
})

describe('announcementOf', () => {
  const done = { ...FIRST_REPLY, content: 'hel', isDone: true }
  it.each([
    ['no reply', undefined, ''],
    ['a reply that is arriving', FIRST_REPLY, 'The reply is arriving'],
    ['a whole reply', done, 'The reply is complete'],
    ['a reply that failed', { ...done, error: 'the upstream broke off' }, 'The reply failed'],
    ['a reply that was stopped', { ...done, error: STOPPED }, 'The reply was stopped'],
  ])('of %s is what became of it', (_, reply, announced) => {
    expect(announcementOf(reply)).toBe(announced)
  })
})

describe('plainNumber', () => {
  it('writes small numbers of credits without an exponent', () => {
    expect([0.0000021, 1.5, 2, 0].map(plainNumber)).toEqual(['0.0000021', '1.5', '2', '0'])
  })
})

describe('ServerSentEvents', () => {
  it('reads names, ids and data of several lines, and skips comments', () => {
    const events = new ServerSentEvents()
    expect(events.push(': keep-alive\n\nid: progress:37\nevent: progress\ndata: {"a":1,\ndata: "b":2}\n\n')).toEqual([
      { event: 'progress', id: 'progress:37', data: '{"a":1,\n"b":2}' },
    ])
  })

  it('waits for the blank line of an event', () => {
    const events = new ServerSentEvents()
    expect(events.push('data: half')).toEqual([])
    expect(events.push(' and half\r\n\r\n')).toEqual([{ event: 'message', id: undefined, data: 'half and half' }])
  })

  it('finds the same events wherever the stream is cut', () => {
    const stream = 'event: a\ndata: 1\n\n: c\n\ndata: 2\ndata: 3\n\nevent: b\ndata:\n\n'
    const whole = new ServerSentEvents().push(stream)
    fc.assert(
      fc.property(fc.integer({ min: 0, max: stream.length }), (cut) => {
        const events = new ServerSentEvents()
        expect([...events.push(stream.slice(0, cut)), ...events.push(stream.slice(cut))]).toEqual(whole)
      }),
    )
  })
})
