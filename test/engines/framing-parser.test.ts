import { describe, expect, it } from 'vitest'
import { FramingError, parseFraming } from './framing-parser.ts'

const framed = (metadata: string, nuls: number, body: string) => Buffer.from(`${metadata}${'\0'.repeat(nuls)}${body}`)
const GOOD = '{"statusCode":200,"headers":{"Content-Type":"text/plain"}}'

describe('framing-parser', () => {
  it('reads a valid response', () => {
    expect(parseFraming(framed(GOOD, 8, 'body'))).toEqual({
      statusCode: 200,
      headers: { 'content-type': 'text/plain' },
      body: Buffer.from('body'),
    })
  })

  it.each<[string, string, number, string]>([
    ['seven NUL bytes', GOOD, 7, 'body'],
    ['nine NUL bytes', GOOD, 9, 'body'],
    ['no delimiter', GOOD, 0, ''],
    ['no metadata', '', 8, 'body'],
    ['metadata without a status', '{"headers":{}}', 8, ''],
    ['a status that is a text', '{"statusCode":"200"}', 8, ''],
    ['a status that is no whole number', '{"statusCode":200.5}', 8, ''],
    ['a member of a buffered answer', '{"statusCode":200,"body":""}', 8, ''],
    ['a header that is a number', '{"statusCode":200,"headers":{"content-length":4}}', 8, 'body'],
    ['a header twice', '{"statusCode":200,"headers":{"a":"1","A":"1"}}', 8, ''],
    ['a line break in a header', '{"statusCode":200,"headers":{"a":"1\\n2"}}', 8, ''],
    ['a blank in a name', '{"statusCode":200,"headers":{"a b":"1"}}', 8, ''],
    ['a body that is too short', '{"statusCode":200,"headers":{"content-length":"5"}}', 8, 'body'],
    ['a body that is too long', '{"statusCode":200,"headers":{"content-length":"3"}}', 8, 'body'],
    ['a prelude above 16 KB', `{"statusCode":200,"headers":{"a":"${'x'.repeat(16_400)}"}}`, 8, ''],
    ['a byte order mark', `\ufeff${GOOD}`, 8, ''],
  ])('refuses %s', (_, metadata, nuls, body) => {
    expect(() => parseFraming(framed(metadata, nuls, body))).toThrow(FramingError)
  })

  it('accepts a truncated body after the reader disconnects', () => {
    const raw = framed('{"statusCode":200,"headers":{"content-length":"5"}}', 8, 'body')
    expect(parseFraming(raw, { isCut: true }).body.toString()).toBe('body')
  })
})
