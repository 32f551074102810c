import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MalformedPreludeError, ResponseFraming, type ResponseHead } from '#local/streamed-response.ts'
import { parseFraming } from '../engines/framing-parser.ts'

const NULS = '\0'.repeat(8)

type Read = { head: ResponseHead | undefined; body: Buffer }

/** Pushes bytes piece by piece, as a connection may cut them. */
function read(pieces: readonly (Buffer | string)[]): Read {
  const framing = new ResponseFraming()
  const body = pieces.map((piece) => framing.push(Buffer.from(piece)))
  return { head: framing.head, body: Buffer.concat(body) }
}

function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end))
}

const metadata = { statusCode: 201, headers: { 'content-type': 'text/event-stream', 'X-Request-Id': 'r1' } }

describe('the framing of a streamed answer', () => {
  it('is status and headers before eight NUL bytes, and the body behind them', () => {
    const { head, body } = read([`${JSON.stringify(metadata)}${NULS}data: 1\n\n`])
    expect(head).toEqual(metadata)
    expect(body.toString()).toBe('data: 1\n\n')
  })

  it('is the same wherever it is cut, also inside the delimiter and in single bytes', () => {
    const bytes = Buffer.from(`${JSON.stringify({ ...metadata, headers: { a: 'ü' } })}${NULS}body \0\0 and more`)
    const whole = read([bytes])
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length)), (places) => {
        expect(read(cutAt(bytes, places))).toEqual(whole)
      }),
    )
    expect(read([...bytes].map((byte) => Buffer.of(byte)))).toEqual(whole)
  })

  it('leaves NUL bytes of the body alone, the first one too', () => {
    expect(read([`{}${NULS}`, '\0\0body']).body.toString('latin1')).toBe('\0\0body')
    expect(read([`{}${NULS}\0body`]).body.toString('latin1')).toBe('\0body')
  })

  it('has no head until the last NUL byte has come', () => {
    expect(read([`${JSON.stringify(metadata)}${'\0'.repeat(7)}`]).head).toBeUndefined()
  })

  it('is 200 without headers when the metadata leaves them out', () => {
    expect(read([`{}${NULS}`]).head).toEqual({ statusCode: 200, headers: {} })
  })

  it('merges both kinds of headers whatever their case, a pair of both once, and cookies', () => {
    const { head } = read([
      JSON.stringify({
        headers: { 'x-one': '1', Vary: 'b', 'content-length': 5 },
        multiValueHeaders: { vary: ['a', 'b'], 'x-two': ['2'] },
        cookies: ['c=1', 'd=2'],
      }),
      NULS,
    ])
    expect(head?.headers).toEqual({
      vary: ['a', 'b'],
      'x-two': '2',
      'x-one': '1',
      'content-length': '5',
      'set-cookie': ['c=1', 'd=2'],
    })
  })

  it('takes a prelude of 16 KB with its delimiter, and not one byte more', () => {
    const prelude = (size: number) => {
      const around = JSON.stringify({ headers: { a: '' } }).length + NULS.length
      return JSON.stringify({ headers: { a: 'x'.repeat(size - around) } }) + NULS
    }
    expect(Buffer.byteLength(prelude(16_384))).toBe(16_384)
    expect(read([prelude(16_384)]).head).toBeDefined()
    expect(() => read([prelude(16_385)])).toThrow(MalformedPreludeError)
    // Without any delimiter it does not read on for ever.
    expect(() => read([Buffer.alloc(16_376, 'x')])).not.toThrow()
    expect(() => read([Buffer.alloc(16_377, 'x')])).toThrow(MalformedPreludeError)
    expect(() => read(Array.from({ length: 16_377 }, () => 'x'))).toThrow(MalformedPreludeError)
  })

  it.each([
    ['no JSON', 'no metadata'],
    ['empty', ''],
    ['a list', '[]'],
    ['null', 'null'],
    ['cut', '{"statusCode":200'],
    ['with a status that is a text', '{"statusCode":"200"}'],
    ['with a status that is no whole number', '{"statusCode":200.5}'],
    ['with a status that is no answer', '{"statusCode":100}'],
    ['with a status above all', '{"statusCode":600}'],
    ['with headers that are a list', '{"headers":["a"]}'],
    ['with a header that is a list', '{"headers":{"a":["b"]}}'],
    ['with multiple headers that are none', '{"multiValueHeaders":{"a":"b"}}'],
    ['with members of a buffered answer', '{"statusCode":200,"body":"b","isBase64Encoded":false}'],
  ])('refuses metadata that is %s', (_, text) => {
    expect(() => read([`${text}${NULS}`])).toThrow(MalformedPreludeError)
  })

  it.each([1, 7])('refuses %i NUL bytes and something else', (count) => {
    expect(() => read([`{}${'\0'.repeat(count)}body`])).toThrow(MalformedPreludeError)
    expect(() => read([`{}${'\0'.repeat(count)}`, 'body'])).toThrow(MalformedPreludeError)
  })

  it('is read alike by the checker of the tests, which shares nothing with it', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/)
    const value = fc.stringMatching(/^[\x20-\x7e]{0,40}$/)
    const headers = fc.dictionary(name, value, { maxKeys: 8, noNullPrototype: true })
    const bytes = fc.uint8Array({ maxLength: 200 }).filter((body) => body[0] !== 0)
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 599 }), headers, bytes, (statusCode, fields, body) => {
        const { 'content-length': _, ...given } = fields
        const raw = Buffer.concat([Buffer.from(JSON.stringify({ statusCode, headers: given }) + NULS), body])
        const { head, body: readBody } = read([raw])
        expect({ ...head, body: readBody }).toEqual(parseFraming(raw))
      }),
    )
  })
})
