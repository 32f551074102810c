import { describe, expect, it } from 'vitest'
import { editEvent, SseEventReader } from '#core/relay/sse-events.ts'

function eventOf(raw: string) {
  const [event] = new SseEventReader().push(raw)
  if (event === undefined) {
    throw new TypeError('no event')
  }
  return event
}

describe('editEvent', () => {
  const raw = ': hi\ndata: {"a":1,\ndata: "b":2}\nid: 1\n\n'

  it('changes the bytes that a place in the data stands for', () => {
    const event = eventOf(raw)
    const data = event.data ?? ''
    const at = (text: string) => ({ start: data.indexOf(text), end: data.indexOf(text) + text.length })
    const edits = [
      { ...at('1'), replacement: 'null' },
      { ...at('2'), replacement: '"two"' },
    ]
    expect(editEvent(event, edits)).toBe('data: {"a":null,\ndata: "b":"two"}\nid: 1\n\n')
  })

  it('removes a span over two lines with the line end', () => {
    const event = eventOf(raw)
    const data = event.data ?? ''
    const edits = [{ start: data.indexOf(','), end: data.indexOf('}'), replacement: '' }]
    expect(editEvent(event, edits)).toBe('data: {"a":1}\nid: 1\n\n')
  })

  it('inserts behind the byte before, at the end of a line too', () => {
    const event = eventOf('data: {"a":1\ndata: }\n\n')
    const index = (event.data ?? '').indexOf('1') + 1
    expect(editEvent(event, [{ start: index, end: index, replacement: ',"b":2' }])).toBe(
      'data: {"a":1,"b":2\ndata: }\n\n',
    )
  })

  it('returns the event itself without edits', () => {
    expect(editEvent(eventOf(raw), [])).toBe(raw.replace(': hi\n', ''))
  })
})
