import { once } from 'node:events'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { MalformedPreludeError, ResponseFraming, type ResponseHead } from '#local/streamed-response.ts'
import { parseFraming } from '../engines/stream-handler.ts'
import { useOpened } from '../engines/use-opened.ts'
import { answering, refusal, refused, startLocalApi } from './local-api.ts'

describe('ResponseFraming:', () => {
  const api = useOpened(startLocalApi)

  const TEXT = { 'content-type': 'text/plain' }
  const OPEN = { statusCode: 200, headers: TEXT }
  const BAD_RESPONSE = refused(502, 'internal error', 'server_error', null)

  describe('a streamed response over the local front', () => {
    it('has the status and the headers of its prelude and the bytes of its body, in chunks', async () => {
      api.serve({ streamHandler: answering({ statusCode: 201, headers: { ...TEXT, 'X-Thing': 'a' } }, 'one ', 'two') })
      const { status, headers, text, isWhole } = await api.post()
      expect({ status, text, isWhole }).toEqual({ status: 201, text: 'one two', isWhole: true })
      expect(headers).toMatchObject({ 'x-thing': 'a', 'transfer-encoding': 'chunked' })
    })

    it('keeps a content-length, and is then not chunked', async () => {
      api.serve({ streamHandler: answering({ headers: { 'Content-Length': '7' } }, 'one ', 'two') })
      const { headers, text } = await api.post()
      expect({ text, length: headers['content-length'] }).toEqual({ text: 'one two', length: '7' })
      expect(headers).not.toHaveProperty('transfer-encoding')
    })

    it('goes out with its head in one packet when it comes in one turn', async () => {
      api.serve({ streamHandler: answering({ headers: { 'content-length': '4' } }, 'body') })
      const socket = await api.open()
      const [packet] = await once(socket, 'data')
      expect(packet.toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nbody$/)
      socket.destroy()
    })

    it('reaches the client as it is written: the head before the body, each chunk before the next', async () => {
      const seen = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      api.serve({
        streamHandler: async (_event, responseStream) => {
          const stream = awslambda.HttpResponseStream.from(responseStream, OPEN)
          stream.write('')
          await seen[0]?.promise
          stream.write('one')
          await seen[1]?.promise
          stream.end('two')
        },
      })
      const socket = await api.open()
      expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n$/)
      seen[0]?.resolve()
      expect(String(await once(socket, 'data'))).toBe('3\r\none\r\n')
      seen[1]?.resolve()
      expect(String(await once(socket, 'data'))).toBe('3\r\ntwo\r\n0\r\n\r\n')
      socket.destroy()
    })

    it('may end after its handler has resolved', async () => {
      const release = Promise.withResolvers<void>()
      api.serve({
        streamHandler: async (_event, responseStream) => {
          const stream = awslambda.HttpResponseStream.from(responseStream, OPEN)
          stream.write('one')
          void release.promise.then(() => stream.end('two'))
        },
      })
      const answer = api.post()
      release.resolve()
      expect(await answer).toMatchObject({ text: 'onetwo', isWhole: true })
    })

    it('leaves its connection to the next request', async () => {
      api.serve({ streamHandler: answering({ headers: { 'content-length': '4' } }, 'body') })
      const socket = await api.open()
      await once(socket, 'data')
      socket.write('POST /v1/things HTTP/1.1\r\nhost: local\r\ncontent-length: 0\r\n\r\n')
      expect(String(await once(socket, 'data'))).toContain('200 OK')
      socket.destroy()
    })
  })

  describe('a stream that is no response', () => {
    it.each([
      ['ends without a byte', async (stream: NodeJS.WritableStream) => void stream.end()],
      ['ends without a prelude', async (stream: NodeJS.WritableStream) => void stream.end('{"statusCode":200}')],
      [
        'begins with something else',
        async (stream: NodeJS.WritableStream) => void stream.end(`<html>${'\0'.repeat(8)}`),
      ],
      ['never has a delimiter', async (stream: NodeJS.WritableStream) => void stream.write('x'.repeat(20_000))],
      ['is left by an error', () => Promise.reject(new TypeError('secret inside'))],
    ])('is a 502 of the gateway: one that %s', async (_, streamHandler) => {
      api.serve({ streamHandler: (_event, stream) => streamHandler(stream) })
      expect(refusal(await api.post())).toEqual(BAD_RESPONSE)
    })

    it.each([
      ['a line break in a header', { a: 'b\nc' }],
      ['a blank in a name', { 'a b': 'c' }],
      ['a letter that HTTP does not have', { a: '船' }],
    ])('is a 502 of the gateway, whatever its length said: %s', async (_, headers) => {
      api.serve({ streamHandler: answering({ headers: { 'content-length': '4', ...headers } }, 'body') })
      expect(refusal(await api.post())).toEqual(BAD_RESPONSE)
    })

    it('is a 502 of the gateway when no prelude came in time, and its handler hears of it', async () => {
      const closed = Promise.withResolvers<void>()
      api.serve({
        timeoutSeconds: 0.05,
        streamHandler: async (_event, stream) => {
          stream.once('close', closed.resolve)
          await new Promise(() => {})
        },
      })
      expect(refusal(await api.post())).toEqual(BAD_RESPONSE)
      await closed.promise
    })

    it('is a 502 of the gateway when Lambda would not take the handler for a streaming one', async () => {
      api.serve({ streamHandler: answering(OPEN, 'body'), isPlain: true })
      expect(refusal(await api.post())).toEqual(BAD_RESPONSE)
    })
  })

  describe('a response that breaks after its prelude', () => {
    it('is cut, so that nobody takes it for whole', async () => {
      api.serve({
        streamHandler: async (_event, responseStream) => {
          const stream = awslambda.HttpResponseStream.from(responseStream, OPEN)
          stream.write('part')
          await new Promise(setImmediate)
          throw new TypeError('broken')
        },
      })
      expect(await api.post()).toMatchObject({ status: 200, text: 'part', isWhole: false })
    })

    it('is cut when the function has no more time', async () => {
      api.serve({
        timeoutSeconds: 0.05,
        streamHandler: async (_event, responseStream) => {
          awslambda.HttpResponseStream.from(responseStream, OPEN).write('part')
          await new Promise(() => {})
        },
      })
      expect(await api.post()).toMatchObject({ text: 'part', isWhole: false })
    })

    it.each([
      ['less', 'bod', /\r\n\r\nbod$/],
      ['more', 'body and soul', /\r\n\r\n$/],
    ])(
      'is cut, with a connection that would have lived on, when there is %s of it than its content-length said',
      async (_, body, end) => {
        api.serve({ streamHandler: answering({ headers: { 'content-length': '4' } }, body) })
        const socket = await api.open()
        const received: Buffer[] = []
        socket.on('data', (data) => received.push(data))
        await once(socket, 'end')
        expect(Buffer.concat(received).toString()).toMatch(end)
      },
    )

    it('is whole when the handler fails behind its end', async () => {
      api.serve({
        streamHandler: async (...invocation) => {
          await answering(OPEN, 'body')(...invocation)
          throw new TypeError('the settlement failed')
        },
      })
      expect(await api.post()).toMatchObject({ status: 200, text: 'body', isWhole: true })
    })
  })
})

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

describe('the framing of a streamed response', () => {
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
