import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ServerSentEvents } from '../../../../web/src/core/playground/sse.ts'

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
