import { once } from 'node:events'
import { request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { listen } from '#adapters/http-server/http-server.ts'
import { ApiFront } from '#local/api-front.ts'
import { useOpened } from '../engines/use-opened.ts'
import { answering, refusal, refused, startLocalApi } from './local-api.ts'

const api = useOpened(startLocalApi)

const OPEN = { statusCode: 200, headers: { 'content-type': 'text/plain' } }

describe('a client of a streamed answer', () => {
  it('that reads slowly slows the handler down, and gets every byte', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'x')
    const chunks = 400
    let written = 0
    const stalled = Promise.withResolvers<void>()
    api.serve({
      streamHandler: async (_event, responseStream) => {
        const stream = awslambda.HttpResponseStream.from(responseStream, {
          headers: { 'content-length': String(chunk.length * chunks) },
        })
        while (written < chunks) {
          written += 1
          if (!stream.write(chunk)) {
            const drained = once(stream, 'drain')
            const stall = setTimeout(stalled.resolve, 200)
            await drained
            clearTimeout(stall)
          }
        }
        stream.end()
      },
    })
    const socket = await api.open()
    socket.pause()
    await stalled.promise
    expect(written).toBeLessThan(chunks)
    let bytes = 0
    await new Promise<void>((resolve) => {
      socket.on('data', (data) => {
        bytes += data.length
        if (bytes > chunk.length * chunks) {
          resolve()
        }
      })
      socket.resume()
    })
    expect(written).toBe(chunks)
    socket.destroy()
    await api.front.invocationsEnded(5_000)
  })

  it('that leaves is noticed by the handler, which goes on, and whose end a shutdown awaits', async () => {
    const left = Promise.withResolvers<void>()
    const settle = Promise.withResolvers<void>()
    const facts: string[] = []
    api.serve({
      streamHandler: async (_event, responseStream) => {
        const stream = awslambda.HttpResponseStream.from(responseStream, OPEN)
        stream.write('one')
        await once(responseStream, 'close')
        facts.push(`finished: ${responseStream.writableFinished}`)
        stream.write('two')
        left.resolve()
        await settle.promise
        facts.push('settled')
      },
    })
    const socket = await api.open()
    await once(socket, 'data')
    socket.destroy()
    await left.promise
    const ended = api.front.invocationsEnded(5_000).then(() => facts.push('ended'))
    await new Promise(setImmediate)
    expect(facts).toEqual(['finished: false'])
    settle.resolve()
    await ended
    expect(facts).toEqual(['finished: false', 'settled', 'ended'])
  })

  it('that leaves while the handler waits for room frees it', async () => {
    const freed = Promise.withResolvers<void>()
    api.serve({
      streamHandler: async (_event, responseStream) => {
        const stream = awslambda.HttpResponseStream.from(responseStream, OPEN)
        while (stream.write(Buffer.alloc(1024 * 1024))) {
          await new Promise(setImmediate)
        }
        await once(responseStream, 'close')
        freed.resolve()
      },
    })
    const socket = await api.open()
    await once(socket, 'readable')
    socket.destroy()
    await freed.promise
    await api.front.invocationsEnded(5_000)
  })
})

describe('a client that reads nothing', () => {
  it('holds no handler up that has no more time', async () => {
    const freed = Promise.withResolvers<void>()
    api.serve({
      timeoutSeconds: 0.1,
      streamHandler: async (_event, responseStream) => {
        const stream = awslambda.HttpResponseStream.from(responseStream, OPEN)
        // More than the buffers of a connection take.
        stream.write(Buffer.alloc(32 * 1024 * 1024))
        await once(responseStream, 'close')
        freed.resolve()
      },
    })
    const socket = await api.open()
    socket.pause()
    await freed.promise
    socket.destroy()
  })
})

describe('the id of a request', () => {
  it('is one for the event and the answer, and another one for every request', async () => {
    api.serve({
      streamHandler: async (...invocation) => {
        const { requestId } = invocation[0].requestContext
        await answering({ headers: { 'x-request-id': requestId } }, JSON.stringify(requestId))(...invocation)
      },
    })
    const [one, two] = await Promise.all([api.post(), api.post()])
    expect(JSON.parse(one?.text ?? '')).toBe(one?.headers['x-request-id'])
    expect(one?.headers['x-request-id']).not.toBe(two?.headers['x-request-id'])
  })

  it('of the event is on the refusal too', async () => {
    const seen: string[] = []
    api.serve({
      streamHandler: async (event, stream) => {
        seen.push(event.requestContext.requestId)
        stream.end()
      },
    })
    const { headers } = await api.post()
    expect(seen).toEqual([headers['x-request-id']])
  })

  it.each<[string, object, number]>([
    ['throws', { handler: () => Promise.reject(new Error('inside')) }, 500],
    ['is missing', {}, 500],
    ['takes too long', { handler: () => new Promise(() => {}), timeoutSeconds: 0.05 }, 500],
    ['answers something else', { handler: async () => 'words' }, 502],
    [
      'answers a header that is none',
      { handler: async () => ({ statusCode: 200, headers: { a: '\n' }, body: '' }) },
      500,
    ],
  ])('is on the answer when a buffered function %s', async (_, served, status) => {
    api.serve(served)
    expect(refusal(await api.post())).toEqual(refused(status, 'internal error', 'server_error', null))
  })

  it('is on the 413 for a body above 10 MB, and on nothing less', async () => {
    api.serve({ handler: async () => ({ statusCode: 200, body: 'taken' }) })
    expect(await api.post(Buffer.alloc(10 * 1024 * 1024))).toMatchObject({ status: 200, text: 'taken' })
    expect(refusal(await api.post(Buffer.alloc(10 * 1024 * 1024 + 1)))).toEqual(
      refused(413, 'request body too large', 'invalid_request_error', 'request_body_too_large'),
    )
  })
})

describe('a buffered answer over the local front', () => {
  it('has the status, the headers and the length of the result', async () => {
    api.serve({
      handler: async () => ({ statusCode: 201, headers: { a: 'b' }, body: 'Ym9keQ==', isBase64Encoded: true }),
    })
    const { status, headers, text } = await api.post()
    expect({ status, a: headers.a, length: headers['content-length'], text }).toEqual({
      status: 201,
      a: 'b',
      length: '4',
      text: 'body',
    })
  })

  it('to HEAD is that of GET without its body', async () => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const front = new ApiFront()
    const server = await listen((incoming, response) => void front.serve(incoming, response), 0)
    const asking = request({ port: server.port, path: '/health', method: 'HEAD', agent: false }, async (response) => {
      const body = Buffer.concat(await response.toArray())
      resolve([response.statusCode, Number(response.headers['content-length']) > 10, body.length])
    })
    asking.on('error', reject).end()
    expect(await promise).toEqual([200, true, 0])
    await server.close()
  })
})
