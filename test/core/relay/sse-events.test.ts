import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { EndlessEventError, editEvent, isEventStream, isHalfEvent, SseEventReader } from '#core/relay/sse-events.ts'

function read(...chunks: string[]) {
  const reader = new SseEventReader()
  const events = chunks.flatMap((chunk) => reader.push(chunk))
  const rest = reader.end()
  return rest === undefined ? events : [...events, rest]
}

function cut(text: string, at: readonly number[]): string[] {
  const places = [...new Set(at.map((each) => each % (text.length + 1)))].sort((left, right) => left - right)
  return [...places, text.length].map((end, index) => text.slice(places[index - 1] ?? 0, end))
}

const EVENTS = ['data: {"a":1}', ': PING', 'event: x\nid: 7\ndata:one\ndata: two\ndata', 'data: [DONE]', 'retry: 1']

/** The lines that are not blank. */
const fieldsOf = (text: string) => text.split(/[\r\n]+/).filter((line) => line !== '')

/** Slow and plain: the lines of a whole stream, then their fields. What has no blank line at the end is an event too. */
function dataByLine(text: string): string[] {
  const found: string[] = []
  let data: string[] = []
  for (const line of [...text.split(/\r\n|\r|\n/), '']) {
    const [name, ...value] = line.split(':')
    if (name === 'data') {
      data.push(value.join(':').replace(/^ /, ''))
    } else if (line === '' && data.length > 0) {
      found.push(data.join('\n'))
      data = []
    }
  }
  return found
}

describe('SseEventReader', () => {
  it.each([
    ['line feeds', '\n'],
    ['carriage returns with line feeds', '\r\n'],
    ['carriage returns', '\r'],
  ])('finds the data of every event in a stream with %s, byte by byte or at once', (_, newline) => {
    const text = EVENTS.map((event) => `${event}\n\n`.replaceAll('\n', newline)).join('')
    const data = ['{"a":1}', undefined, 'one\ntwo\n', '[DONE]', undefined]
    expect(read(text).map((event) => event.data)).toStrictEqual(data)
    // A carriage return that is cut from its line feed leaves that one to what follows, which changes no event.
    const pieces = read(...text).flatMap((event) => event.data ?? [])
    expect(pieces).toStrictEqual(data.filter((each) => each !== undefined))
  })

  it.each([
    ['data: {"a":1}\n\n', '{"a":1}', 6],
    ['data:{"a":1}\n\n', '{"a":1}', 5],
    ['data:  two spaces\n\n', ' two spaces', 6],
    ['data: \n\n', '', 6],
    ['data:\n\n', '', 5],
    ['data: 1\r\n\n', '1', 6],
    ['data: 1\n\r', '1', 6],
    ['data: 1\ndata: 2\n\n', '1\n2', 6],
    ['data: 1\nx', '1', 6],
  ])('reads %j as the format says, one line or several', (text, data, at) => {
    const events = read(text)
    expect(events.map((event) => event.data)).toStrictEqual([data])
    expect(events[0]?.toRaw(0)).toBe(at)
  })

  it('keeps every byte of data and event lines, however the stream is cut', () => {
    const newline = fc.constantFrom('\n', '\r\n', '\r')
    const event = fc.tuple(fc.constantFrom(...EVENTS), newline, newline)
    fc.assert(
      fc.property(fc.array(event), fc.array(fc.nat()), (events, places) => {
        const text = events.map(([body, first, second]) => body.replaceAll('\n', first) + first + second).join('')
        const sent = read(...cut(text, places))
          .map(({ raw }) => raw)
          .join('')
        const shown = fieldsOf(text).filter((line) => /^(?:data|event)/.test(line))
        expect(fieldsOf(sent)).toStrictEqual(shown)
        expect(shown.length < fieldsOf(text).length || sent === text).toBe(true)
      }),
    )
  })

  it.each([
    [': a\ndata: 1\n:b\ndata: 2\r\n:\r\n\r\n', 'data: 1\ndata: 2\r\n\r\n'],
    ['data: : 1\n\n', 'data: : 1\n\n'],
    ['event: a\rid: 1\r: x\rretry: 2\r\r', 'event: a\r\r'],
    ['id: up-1\nretry: 2\nserver: up\ndatabase: up\n\n', ''],
    ['data: 1\n\n\xef\xbb\xbf: up\n\n', 'data: 1\n\n'],
    [': a\n: b\n\n', ''],
    [': cut off', ''],
    ['\n: a\r\r', '\n'],
    ['\n\n', '\n\n'],
  ])('leaves lines out of %j that no client reads', (text, kept) => {
    const events = read(text)
    expect(events.map(({ raw }) => raw).join('')).toBe(kept)
    const data = events.flatMap((each) => each.data ?? [])
    for (const each of events) {
      const at = each.toRaw(0)
      expect(each.data === undefined || each.raw.slice(at).startsWith(each.data.slice(0, 1))).toBe(true)
    }
    expect(data.join('')).not.toContain('b')
  })

  it('finds the same data as a parser that takes line by line, however the stream is cut', () => {
    const part = fc.constantFrom(
      ...['\n', '\r', '\r\n', '\n\n'],
      ...['data:', 'data', ' ', 'a', ':', 'id: 1', 'data: {"a":1}'],
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), fc.array(fc.nat()), (parts, places) => {
        const text = parts.join('')
        const events = read(...cut(text, places))
        expect(events.flatMap(({ data }) => data ?? [])).toStrictEqual(dataByLine(text))
        for (const { raw, data = '', toRaw } of events) {
          expect(Array.from(data, (character, at) => character === '\n' || raw[toRaw(at)] === character)).not.toContain(
            false,
          )
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('leaves out the byte order mark of a stream, wherever the first chunks are cut', () => {
    const text = '\xef\xbb\xbfdata: 1\n\ndata: \xef\xbb\xbf2\n\n'
    for (const chunks of [[text], [...text], [text.slice(0, 2), text.slice(2)]]) {
      expect(read(...chunks).map(({ data }) => data)).toStrictEqual(['1', '\xef\xbb\xbf2'])
    }
    const half = read('', '\xef', '\xbbdata: 1\n\n', '\xef')
    expect(half.map(({ raw }) => raw)).toStrictEqual(['', '\xef'])
    expect(read('\xef\xbb').map(({ raw }) => raw)).toStrictEqual(['\xef\xbb'])
  })

  it('gives an event as soon as its blank line has begun', () => {
    const reader = new SseEventReader()
    expect(reader.push('data: 1\r\n\r')).toHaveLength(1)
    expect(reader.push('\ndata: 2\n')).toHaveLength(0)
    expect(reader.push('\n').map((event) => event.data)).toStrictEqual(['2'])
  })

  it('gives what has no blank line at the end of the stream', () => {
    expect(read('data: 1\n\ndata: 2').map((event) => event.data)).toStrictEqual(['1', '2'])
  })

  it('tells where a byte of the data stands, also when the data has several lines', () => {
    const [event] = read('id: 1\r\ndata: {"a":\r\ndata:"model"}\r\n\r\n')
    const at = event?.data?.indexOf('"model"') ?? -1
    expect(event?.raw.slice(event.toRaw(at))).toBe('"model"}\r\n\r\n')
    expect(event?.raw.slice(event.toRaw(0))).toMatch(/^\{"a":/)
  })

  it('refuses an event that does not end', () => {
    const reader = new SseEventReader()
    const megabyte = 'x'.repeat(1024 * 1024)
    expect(() => {
      for (let count = 0; count < 20; count += 1) {
        reader.push(megabyte)
      }
    }).toThrow('an event of more bytes or lines than any')
  })
})

it('SseEventReader refuses an event of millions of lines before it reads them', () => {
  expect(() => new SseEventReader().push(`${'data:\n'.repeat(2_000_000)}\n`)).toThrow(EndlessEventError)
  expect(new SseEventReader().push(`${'data:\n'.repeat(10_000)}\n`)).toHaveLength(1)
})

describe('SseEventReader: an event that comes in many small chunks', () => {
  it('is looked at once, byte by byte', () => {
    const reader = new SseEventReader()
    const chunk = 'x'.repeat(100)
    reader.push('data: ')
    const start = performance.now()
    for (let count = 0; count < 100_000; count += 1) {
      reader.push(chunk)
    }
    // Ten megabytes: a tenth of a second, or minutes if each chunk looked at all that came before.
    expect(performance.now() - start).toBeLessThan(10_000)
    expect(reader.push('\n\n')[0]?.data).toHaveLength(10_000_000)
  })

  it('loses the byte order mark that a stream may begin with', () => {
    expect(new SseEventReader().push('\xef\xbb\xbfdata: 1\n\n').map(({ raw, data }) => ({ raw, data }))).toStrictEqual([
      { raw: 'data: 1\n\n', data: '1' },
    ])
  })
})

function eventOf(raw: string) {
  const [event] = new SseEventReader().push(raw)
  if (event === undefined) {
    throw new TypeError('no event')
  }
  return event
}

describe('editEvent', () => {
  const raw = ': hi\ndata: {"a":1,\ndata: "b":2}\nevent: x\n\n'

  it('changes the bytes that a place in the data stands for', () => {
    const event = eventOf(raw)
    const data = event.data ?? ''
    const at = (text: string) => ({ start: data.indexOf(text), end: data.indexOf(text) + text.length })
    const edits = [
      { ...at('1'), replacement: 'null' },
      { ...at('2'), replacement: '"two"' },
    ]
    expect(editEvent(event, edits)).toBe('data: {"a":null,\ndata: "b":"two"}\nevent: x\n\n')
  })

  it('removes a span over two lines with the line end', () => {
    const event = eventOf(raw)
    const data = event.data ?? ''
    const edits = [{ start: data.indexOf(','), end: data.indexOf('}'), replacement: '' }]
    expect(editEvent(event, edits)).toBe('data: {"a":1}\nevent: x\n\n')
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

function isHalf(rest: string): boolean {
  const reader = new SseEventReader()
  reader.push(rest)
  const event = reader.end()
  if (event === undefined) {
    throw new TypeError('nothing was left')
  }
  return isHalfEvent(event)
}

describe('isHalfEvent: the rest of a stream that ends without a blank line', () => {
  it.each([
    'data: {"choices":[{"delta":{"content":"wor',
    'data: {"id":"chatcmp',
    'data: ',
    'data',
    'event: x\n',
    'id: 5',
    'data: [DO',
  ])('is half an event when it is %j', (rest) => {
    expect(isHalf(rest)).toBe(true)
  })

  it.each([
    'data: [DONE]',
    'data:[DONE]\n',
    'data: {"choices":[]}',
    'data: {"a":\ndata: 1}\r\n',
    ': bye',
    'id: 5\n',
    '\n',
  ])('is none when it is %j', (rest) => {
    expect(isHalf(rest)).toBe(false)
  })
})

describe('isEventStream: the reply to a request for a stream', () => {
  it.each(['text/event-stream', 'Text/Event-Stream; charset=UTF-8', 'text/event-stream ;x=1', undefined])(
    'of the type %s is one',
    (contentType) => {
      expect(isEventStream(contentType)).toBe(true)
    },
  )

  it.each(['application/json', 'text/plain', 'text/event-streams', 'application/text/event-stream', ''])(
    'of the type %j is a whole reply',
    (contentType) => {
      expect(isEventStream(contentType)).toBe(false)
    },
  )
})
