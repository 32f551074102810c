import { describe, expect, it } from 'vitest'
import { AnswerReader } from '../../../bench/relay/answer-reader.ts'

const COUNTED = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 11\r\n\r\nhello world')
const CHUNKED = Buffer.from(
  'HTTP/1.1 402 Payment Required\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;name=value\r\n\r\nworl\r\n0\r\nExpires: 0\r\n\r\n',
)

function read(pieces: readonly Buffer[]): AnswerReader {
  const reader = new AnswerReader()
  for (const piece of pieces) {
    reader.push(piece)
  }
  return reader
}

function split(bytes: Buffer, at: number): readonly Buffer[] {
  return [bytes.subarray(0, at), bytes.subarray(at)]
}

describe('an answer', () => {
  it.each([
    ['with a length', COUNTED, 200],
    ['in chunks', CHUNKED, 402],
  ])('%s has its status and the bytes of its body alone, wherever it is cut', (_, bytes, status) => {
    for (let at = 0; at <= bytes.length; at += 1) {
      const reader = read(split(bytes, at))
      expect([at, reader.status, reader.bodyBytes, reader.isEnded]).toEqual([at, status, 11, true])
    }
  })

  it.each([
    ['with a length', COUNTED],
    ['in chunks', CHUNKED],
  ])('%s has not ended before its last byte', (_, bytes) => {
    for (let end = 0; end < bytes.length; end += 1) {
      expect(read([bytes.subarray(0, end)]).isEnded).toBe(false)
    }
  })

  it('of a single byte at a time is the same answer', () => {
    const reader = read(Array.from(CHUNKED, (byte) => Buffer.from([byte])))
    expect([reader.status, reader.bodyBytes, reader.isEnded]).toEqual([402, 11, true])
  })

  it('without a body ends with its head', () => {
    expect(read([Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')]).isEnded).toBe(true)
  })

  it.each([
    ['has no length', 'HTTP/1.1 200 OK\r\n\r\nhello'],
    ['has a chunk without a size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nhello\r\n'],
    ['is followed by more', `${COUNTED.toString()}HTTP/1.1`],
  ])('is refused when it %s', (_, text) => {
    expect(() => read([Buffer.from(text)])).toThrow(expect.objectContaining({ name: 'MalformedAnswerError' }))
  })
})
