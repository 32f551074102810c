import { once } from 'node:events'
import { describe, expect, it } from '@jest/globals'
import '#local/awslambda.ts'
import { FramingError, parseFraming, runStreamHandler } from './stream-handler.ts'

const HEAD = { statusCode: 200, headers: { 'content-type': 'text/plain' } }

/** A handler that writes lines, waits for room as it should, ends, and then does something that takes a moment. */
function writing(...lines: readonly string[]) {
  const facts: string[] = []
  const streamHandler = awslambda.streamifyResponse(async (_event, responseStream) => {
    const stream = awslambda.HttpResponseStream.from(responseStream, HEAD)
    responseStream.on('close', () => facts.push(responseStream.writableFinished ? 'finished' : 'gone'))
    stream.write('')
    for (const line of lines) {
      if (!stream.write(line) && !responseStream.destroyed) {
        facts.push('waited')
        await Promise.race([once(stream, 'drain'), once(stream, 'close')])
      }
    }
    stream.end()
    await new Promise(setImmediate)
    facts.push('settled')
  })
  return { streamHandler, facts }
}

describe('run-stream-handler', () => {
  it('returns the response of a client, and waits for the work after it', async () => {
    const { streamHandler, facts } = writing('one ', 'two')
    const run = await runStreamHandler({ streamHandler, event: {} })
    expect(run).toMatchObject({ ...HEAD, text: 'one two', hasLeft: false })
    expect(Buffer.concat(run.chunks.map(({ bytes }) => bytes)).equals(run.raw)).toBe(true)
    expect(run.endedAtMilliseconds).toBeLessThan(run.resolvedAtMilliseconds)
    expect(facts).toEqual(['finished', 'settled'])
  })

  it('applies the backpressure of a slow client', async () => {
    const { streamHandler, facts } = writing('one ', 'two ', 'three')
    const read = () => new Promise<void>(setImmediate)
    const run = await runStreamHandler({ streamHandler, event: {}, client: { highWaterMark: 4, read } })
    expect(run.text).toBe('one two three')
    expect(facts).toContain('waited')
  })

  it.each([0, 5])(
    'reports a client that disconnects after %i bytes, and the handler continues',
    async (leavesAfterBytes) => {
      const { streamHandler, facts } = writing('one ', 'two ', 'three')
      const run = await runStreamHandler({ streamHandler, event: {}, client: { leavesAfterBytes } })
      expect(run.hasLeft).toBe(true)
      expect(run.text).toBe(leavesAfterBytes === 0 ? '' : 'one two ')
      expect(facts).toEqual(['gone', 'settled'])
    },
  )

  it('reports invalid framing', async () => {
    const unframed = awslambda.streamifyResponse(async (_event, responseStream) => void responseStream.end('body'))
    await expect(runStreamHandler({ streamHandler: unframed, event: {} })).rejects.toThrow(FramingError)
  })

  it('reports an unfinished response, and an unwrapped handler', async () => {
    const open = awslambda.streamifyResponse(async (_event, responseStream) => void responseStream.write('body'))
    await expect(runStreamHandler({ streamHandler: open, event: {} })).rejects.toThrow('left its answer open')
    await expect(runStreamHandler({ streamHandler: async () => {}, event: {} })).rejects.toThrow('#local/awslambda.ts')
  })
})

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
