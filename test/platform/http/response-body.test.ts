import { describe, expect, it } from '@jest/globals'
import { HeldChunks, ResponseBrokenError } from '#platform/http/response-body.ts'
import { answerOf, chunksOf, IDLE_HASTY, textOf, usePosting } from '../../relay/posting.ts'
import { CHUNKED_HEAD, chunkOf, httpAnswer, LAST_CHUNK, type RawRequest } from '../../relay/raw-upstream.ts'

describe('the body of a response:', () => {
  const { start, post } = usePosting()

  describe('a reply', () => {
    it('may follow informational heads', async () => {
      const early = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'
      const upstream = await start(({ socket }) => socket.write(early + httpAnswer(201, 'after')))
      expect(await textOf(post(upstream))).toBe('after')
    })

    it('may be a redirect, which is not followed', async () => {
      const upstream = await start(({ socket }) => socket.write(httpAnswer(307, '', { Location: '/elsewhere' })))
      expect((await answerOf(post(upstream))).status).toBe(307)
      expect(upstream.requests).toHaveLength(1)
    })

    it('is there with its head, before its body', async () => {
      const upstream = await start(({ socket }) => socket.write(CHUNKED_HEAD))
      const { status, headers, body } = await answerOf(post(upstream))
      expect({ status, type: headers['content-type'] }).toStrictEqual({ status: 200, type: 'text/event-stream' })

      upstream.requests[0]?.socket.write(chunkOf('one'))
      expect(await body.next()).toStrictEqual({ done: false, value: Buffer.from('one') })
      upstream.requests[0]?.socket.write(LAST_CHUNK)
      expect(await body.next()).toStrictEqual({ done: true, value: undefined })
      expect(await body.next()).toStrictEqual({ done: true, value: undefined })
    })

    it('may end with its connection when it says no length', async () => {
      const upstream = await start(({ socket }) => socket.end('HTTP/1.1 200 OK\r\n\r\nuntil the end'))
      expect(await textOf(post(upstream))).toBe('until the end')
    })

    it('is whole although its connection closed before it was read', async () => {
      const text = 'x'.repeat(400_000)
      const upstream = await start(({ socket }) => socket.end(httpAnswer(200, text, { Connection: 'close' })))
      const { body } = await answerOf(post(upstream))
      let length = 0
      for await (const chunk of body) {
        length += chunk.length
        await new Promise(setImmediate)
      }
      expect(length).toBe(text.length)
    })
  })

  describe('a body', () => {
    it('reaches a waiting reader as one piece, however many chunks arrive at once', async () => {
      const upstream = await start(({ socket }) => socket.write(CHUNKED_HEAD))
      const { body } = await answerOf(post(upstream))
      const first = body.next()
      upstream.requests[0]?.socket.write(chunkOf('one') + chunkOf('two') + chunkOf('three') + LAST_CHUNK)
      expect(await first).toStrictEqual({ done: false, value: Buffer.from('onetwothree') })
      expect(await body.next()).toStrictEqual({ done: true, value: undefined })
    })

    it('reaches a waiting reader up to the place where it breaks off', async () => {
      const upstream = await start(({ socket }) => socket.write(CHUNKED_HEAD))
      const { body } = await answerOf(post(upstream))
      const first = body.next()
      upstream.requests[0]?.socket.end(chunkOf('one') + chunkOf('two'))
      expect(await first).toStrictEqual({ done: false, value: Buffer.from('onetwo') })
      await expect(body.next()).rejects.toThrow(ResponseBrokenError)
    })

    it('is whole although its connection was reset between its last byte and its reading', async () => {
      const text = 'x'.repeat(100_000)
      const upstream = await start(({ socket }) => {
        socket.write(httpAnswer(200, text))
        // Long enough for all of it to be taken in; a reset before that would be a cut.
        setTimeout(() => socket.resetAndDestroy(), 50)
      })
      const { body } = await answerOf(post(upstream))
      await upstream.allClosed()
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect((await chunksOf(body)).join('')).toHaveLength(text.length)
    })

    it('may take longer than the idle timeout as long as no pause does', async () => {
      const upstream = await start(({ socket }) => {
        socket.write(CHUNKED_HEAD)
        let turn = 0
        const timer = setInterval(() => {
          turn += 1
          socket.write(turn < 5 ? chunkOf('x') : LAST_CHUNK)
        }, 80)
        socket.once('close', () => clearInterval(timer))
      })
      const timeouts = { ...IDLE_HASTY, idleMilliseconds: 300 }
      expect(await textOf(post(upstream, { timeouts }))).toBe('xxxx')
    })

    it.each([
      ['reset', (socket: RawRequest['socket']) => void socket.resetAndDestroy(), 'ECONNRESET'],
      ['shorter than its length', (socket: RawRequest['socket']) => void socket.end(), 'reply cut short'],
    ])('that is %s gives what came and then throws', async (_, act, reason) => {
      const upstream = await start(({ socket }) =>
        socket.write(`${httpAnswer(200, '', { 'Content-Length': '9' })}half`),
      )
      const { body } = await answerOf(post(upstream))
      expect((await body.next()).value?.toString()).toBe('half')
      const next = body.next()
      for (const { socket } of upstream.requests) {
        act(socket)
      }
      await expect(next).rejects.toThrow(new ResponseBrokenError(reason))
      await expect(body.next()).rejects.toBeInstanceOf(ResponseBrokenError)
    })

    it.each([
      ['cut between its chunks', chunkOf('half')],
      ['cut within a chunk', `${chunkOf('half').slice(0, 5)}`],
    ])('that is %s throws', async (_, bytes) => {
      const upstream = await start(({ socket }) => socket.end(CHUNKED_HEAD + bytes))
      await expect(textOf(post(upstream))).rejects.toThrow(new ResponseBrokenError('reply cut short'))
    })

    it('with a chunk that is none throws', async () => {
      const upstream = await start(({ socket }) => socket.write(`${CHUNKED_HEAD}zz\r\n`))
      await expect(textOf(post(upstream))).rejects.toThrow(new ResponseBrokenError('HPE_INVALID_CHUNK_SIZE'))
      await upstream.allClosed()
    })

    it('that falls silent throws after the idle timeout and closes its connection', async () => {
      const upstream = await start(({ socket }) => socket.write(CHUNKED_HEAD + chunkOf('one')))
      const outcome = post(upstream, { timeouts: IDLE_HASTY })
      await expect(textOf(outcome)).rejects.toThrow(new ResponseBrokenError('idle timeout'))
      await upstream.allClosed()
    })

    it('that nobody begins to read closes its connection after the idle timeout', async () => {
      const upstream = await start(({ socket }) => socket.write(CHUNKED_HEAD))
      const { body } = await answerOf(post(upstream, { timeouts: IDLE_HASTY }))
      await upstream.allClosed()
      await expect(body.next()).rejects.toThrow(new ResponseBrokenError('idle timeout'))
    })

    it('is not idle while its reader is slow', async () => {
      const idleMilliseconds = 1_000
      const upstream = await start(({ socket }) => socket.write(CHUNKED_HEAD + chunkOf('one')))
      const { body } = await answerOf(post(upstream, { timeouts: { ...IDLE_HASTY, idleMilliseconds } }))
      await body.next()
      // Two idle timeouts pass at the reader; no condition tells that something has not happened.
      await new Promise((resolve) => setTimeout(resolve, idleMilliseconds * 2))
      upstream.requests[0]?.socket.write(chunkOf('two') + LAST_CHUNK)
      expect((await body.next()).value?.toString()).toBe('two')
      expect((await body.next()).done).toBe(true)
    })

    it('is not idle before its reader begins, while its upstream sends', async () => {
      const upstream = await start(({ socket }) => {
        socket.write(CHUNKED_HEAD)
        const timer = setInterval(() => socket.write(chunkOf('x')), 30)
        socket.once('close', () => clearInterval(timer))
      })
      const idleMilliseconds = 1_000
      const { body } = await answerOf(post(upstream, { timeouts: { ...IDLE_HASTY, idleMilliseconds } }))
      const ends: string[] = []
      body.onceOver((end) => ends.push(end))
      // Two idle timeouts pass; no condition tells that something has not happened.
      await new Promise((resolve) => setTimeout(resolve, idleMilliseconds * 2))
      expect(ends).toStrictEqual([])
      expect((await body.next()).value?.toString()).toMatch(/^x+$/)
      body.destroy()
    })

    it('is not idle before its reader begins, while its upstream is kept waiting', async () => {
      const text = 'x'.repeat(10_000_000)
      const idleMilliseconds = 500
      const upstream = await start(({ socket }) => socket.write(httpAnswer(200, text)))
      const outcome = await answerOf(post(upstream, { timeouts: { ...IDLE_HASTY, idleMilliseconds } }))
      // Two idle timeouts pass; no condition tells that something has not happened.
      await new Promise((resolve) => setTimeout(resolve, idleMilliseconds * 2))
      expect((await chunksOf(outcome.body)).join('')).toHaveLength(text.length)
    })

    it('makes the upstream wait for its reader', async () => {
      const size = 64 * 1024 * 1024
      let written = 0
      const upstream = await start(({ socket }) => {
        socket.write(httpAnswer(200, '', { 'Content-Length': String(size) }))
        const piece = Buffer.alloc(256 * 1024)
        const more = () => {
          while (written < size) {
            written += piece.length
            if (!socket.write(piece)) {
              socket.once('drain', more)
              return
            }
          }
        }
        more()
      })
      const { body } = await answerOf(post(upstream))
      // Until the upstream gets rid of nothing for a while.
      for (let before = -1; before !== written; ) {
        before = written
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      expect(written).toBeLessThan(size / 2)
      let read = 0
      for await (const chunk of body) {
        read += chunk.length
      }
      expect(read).toBe(size)
    })

    it('that is destroyed closes its connection, and a pending or later read throws', async () => {
      const upstream = await start(({ socket }) => socket.write(CHUNKED_HEAD))
      const { body } = await answerOf(post(upstream))
      const pending = body.next()
      body.destroy()
      await expect(pending).rejects.toThrow(new ResponseBrokenError('given up'))
      await expect(body.next()).rejects.toThrow(new ResponseBrokenError('given up'))
      await upstream.allClosed()
    })

    it('that its reader leaves early closes its connection', async () => {
      const upstream = await start(({ socket }) => socket.write(CHUNKED_HEAD + chunkOf('one')))
      const { body } = await answerOf(post(upstream))
      for await (const chunk of body) {
        expect(chunk.toString()).toBe('one')
        break
      }
      await upstream.allClosed()
    })

    it.each([
      ['whole', CHUNKED_HEAD + chunkOf('all') + LAST_CHUNK, 'whole'],
      ['cut', CHUNKED_HEAD + chunkOf('half'), 'broken'],
    ])('that is %s tells so once, to whoever asks before or after', async (_, bytes, end) => {
      const upstream = await start(({ socket }) => socket.end(bytes))
      const { body } = await answerOf(post(upstream))
      const ends: string[] = []
      await new Promise<void>((resolve) => {
        body.onceOver((how) => {
          ends.push(how)
          resolve()
        })
      })
      body.destroy()
      body.onceOver((how) => ends.push(how))
      expect(ends).toStrictEqual([end, end])
    })

    it('that arrived whole and was let go of is not taken for a whole one', async () => {
      const upstream = await start(({ socket }) => socket.write(httpAnswer(200, 'text')))
      const { body } = await answerOf(post(upstream))
      await new Promise<unknown>((resolve) => body.onceOver(resolve))
      body.destroy()
      await expect(body.next()).rejects.toThrow(new ResponseBrokenError('given up'))
    })
  })

  describe('a peek', () => {
    it('sees the body and takes nothing of it', async () => {
      const upstream = await start(({ socket }) => socket.write(httpAnswer(400, 'all of it')))
      const { body } = await answerOf(post(upstream))
      expect((await body.peek(2_000)).toString()).toBe('all of it')
      expect((await body.next()).value?.toString()).toBe('all of it')
      expect((await body.next()).done).toBe(true)
    })

    it('waits no longer than it was told, and the rest of the body comes after', async () => {
      const upstream = await start(({ socket }) => socket.write(CHUNKED_HEAD + chunkOf('one')))
      const { body } = await answerOf(post(upstream))
      expect((await body.peek(30)).toString()).toBe('one')
      upstream.requests[0]?.socket.write(chunkOf('two') + LAST_CHUNK)
      expect(await chunksOf(body)).toStrictEqual(['one', 'two'])
    })

    it('is bounded, and the rest of the body comes after', async () => {
      const text = 'x'.repeat(1_000_000)
      const upstream = await start(({ socket }) => socket.write(httpAnswer(400, text)))
      const { body } = await answerOf(post(upstream))
      const beginning = await body.peek(2_000)
      expect(beginning.length).toBeLessThan(200_000)
      let length = 0
      for await (const chunk of body) {
        length += chunk.length
      }
      expect(length).toBe(text.length)
    })

    it('ends at once when the body breaks off', async () => {
      const upstream = await start(({ socket }) => socket.end(httpAnswer(400, '', { 'Content-Length': '9' })))
      const { body } = await answerOf(post(upstream))
      expect(await body.peek(60_000)).toHaveLength(0)
    })
  })
})

describe('HeldChunks', () => {
  it('leave as one, in their order, and only once', () => {
    const held = new HeldChunks()
    held.push(Buffer.from('ab'))
    held.push(Buffer.from('c'))
    expect([held.bytes, held.take()?.toString(), held.bytes, held.take()]).toEqual([3, 'abc', 0, undefined])
  })

  it('leave uncopied when there is one', () => {
    const held = new HeldChunks()
    const only = Buffer.from('ab')
    held.push(only)
    expect(held.take()).toBe(only)
  })

  it('stay when they are looked at', () => {
    const held = new HeldChunks()
    expect(held.peek()).toHaveLength(0)
    held.push(Buffer.from('ab'))
    expect([held.peek().toString(), held.peek().toString(), held.bytes]).toEqual(['ab', 'ab', 2])
    held.clear()
    expect([held.bytes, held.take()]).toEqual([0, undefined])
  })
})
