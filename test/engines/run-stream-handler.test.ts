import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import '#local/awslambda.ts'
import { FramingError } from './framing-parser.ts'
import { runStreamHandler } from './run-stream-handler.ts'

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
