import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ResponseHeaders } from '#lambdas/relay/client-response.ts'
import { HttpResponse, readTarget, receivedOverHttp } from '#lambdas/relay-server/http-response.ts'
import { type HttpServer, listen } from '#platform/http-server/http-server.ts'

describe('HttpResponse', () => {
  type Respond = (response: HttpResponse) => Promise<void> | void

  const OUT_OF_TIME = 'data: "late"\n\n'
  const STREAM = { statusCode: 200, headers: { 'content-type': 'text/event-stream' }, outOfTime: () => OUT_OF_TIME }
  const json = (length: number) => ({
    statusCode: 200,
    headers: { 'content-type': 'application/json', 'content-length': `${length}` },
  })

  let server: HttpServer
  let respond: Respond = () => undefined
  let heldBytes = 0
  const finished: Promise<void>[] = []

  beforeAll(async () => {
    server = await listen((_, raw) => {
      const hold = (bytes: number) => {
        heldBytes += bytes
        let isHeld = true
        const release = () => {
          heldBytes -= isHeld ? bytes : 0
          isHeld = false
        }
        return { taken: () => undefined, release }
      }
      const response = new HttpResponse(raw, {
        requestId: 'request-1',
        headers: new ResponseHeaders('request-1'),
        hold,
      })
      finished.push(Promise.resolve(respond(response)).then(() => response.finished()))
    }, 0)
  })
  afterAll(() => server.close())

  function get(respondWith: Respond): Promise<{ status: number; text: string; isWhole: boolean; headers: object }> {
    respond = respondWith
    return new Promise((resolve, reject) => {
      const sending = request({ port: server.port, agent: false }, (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk) => chunks.push(chunk))
        // A response that is cut errs, and closes like any other.
        incoming.on('error', () => undefined)
        incoming.on('close', () => {
          const { statusCode: status = 0, headers, complete: isWhole } = incoming
          resolve({ status, headers, text: Buffer.concat(chunks).toString(), isWhole })
        })
      })
      sending.on('error', reject).end()
    })
  }

  /** A connection that has sent a request. */
  function open(respondWith: Respond): Socket {
    respond = respondWith
    const socket = connect(server.port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nhost: local\r\n\r\n')
    return socket
  }

  it('has ended, and its client is gone, where the connection closed before it was made', async () => {
    const { promise: isGone, resolve } = Promise.withResolvers<boolean>()
    const late = await listen((_, raw) => {
      raw.once('close', () => {
        const hold = () => ({ taken: () => undefined, release: () => undefined })
        const made = new HttpResponse(raw, { requestId: 'request-1', headers: new ResponseHeaders('request-1'), hold })
        void made.finished().then(() => resolve(made.gone.aborted))
      })
    }, 0)
    const socket = connect(late.port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nhost: local\r\n\r\n', () => socket.resetAndDestroy())
    expect(await isGone).toBe(true)
    await late.close()
  })

  it('sends head and body of one turn in one packet, with the headers of every relayed response', async () => {
    const socket = open((response) => {
      response.open(json(2))
      response.write('{}')
      response.end()
    })
    expect(String((await once(socket, 'data'))[0])).toMatch(
      /^HTTP\/1\.1 200 OK\r\n[\s\S]*x-request-id: request-1\r\n[\s\S]*\r\n\r\n\{\}$/,
    )
    socket.destroy()
  })

  it('sends a head without a body at once', async () => {
    const socket = open((response) => response.open(STREAM))
    expect(String((await once(socket, 'data'))[0])).toMatch(/\r\n\r\n$/)
    socket.destroy()
  })

  it('keeps to its first head', async () => {
    const { status, text } = await get((response) => {
      response.open(STREAM)
      response.open({ statusCode: 500, headers: {} })
      response.write('data: 1\n\n')
      response.end()
    })
    expect([status, text]).toEqual([200, 'data: 1\n\n'])
  })

  it('may still be an error after a head that HTTP does not allow', async () => {
    const { status } = await get((response) => {
      expect(() => response.open({ statusCode: 200, headers: { 'content-type': 'a\nb' } })).toThrow()
      response.open({ statusCode: 500, headers: {} })
      response.end()
    })
    expect(status).toBe(500)
  })

  it('is a 502 when it was never opened', async () => {
    const { status, text } = await get(() => undefined)
    expect([status, JSON.parse(text).error.type]).toEqual([502, 'server_error'])
  })

  it('is cut when it ends short of its length, so that no client waits for the rest', async () => {
    const { text, isWhole } = await get((response) => {
      response.open(json(10))
      response.write('{"a":')
      response.end()
    })
    expect([text, isWhole]).toEqual(['{"a":', false])
  })

  it('sends large writes in their order, and counts them until the client has them', async () => {
    const parts = ['a', 'b', 'c'].map((letter) => letter.repeat(700_000))
    const { text } = await get(async (response) => {
      response.open(json(2_100_001))
      for (const part of parts) {
        response.write(part)
      }
      expect(heldBytes).toBe(2_100_001)
      response.write('d')
      response.end()
    })
    expect(text === `${parts.join('')}d`).toBe(true)
    await Promise.all(finished.splice(0))
    expect(heldBytes).toBe(0)
  })

  it('waits for a client that reads slowly', async () => {
    const written = Promise.withResolvers<boolean>()
    let hasRoom = false
    const socket = open(async (response) => {
      response.open(STREAM)
      // More than the buffers of a connection hold.
      written.resolve(Array.from({ length: 100 }, () => response.write(Buffer.alloc(200_000, 32))).includes(true))
      await response.drained()
      hasRoom = true
      response.end()
    })
    socket.pause()
    expect(await written.promise).toBe(false)
    await new Promise(setImmediate)
    expect(hasRoom).toBe(false)
    socket.resume()
    await Promise.all(finished.splice(0))
    expect(hasRoom).toBe(true)
    socket.destroy()
  })

  it('counts a stream while its client does not read', async () => {
    const counted = Promise.withResolvers<number>()
    const socket = open(async (response) => {
      response.open(STREAM)
      while (response.write(Buffer.alloc(100_000, 32))) {
        await new Promise(setImmediate)
      }
      const drained = response.drained()
      counted.resolve(heldBytes)
      await drained
      response.end()
    })
    socket.pause()
    expect(await counted.promise).toBeGreaterThan(100_000)
    socket.resume()
    await Promise.all(finished.splice(0))
    expect(heldBytes).toBe(0)
    socket.destroy()
  })

  it('tells when the client has left, and waits for nothing then', async () => {
    const left = Promise.withResolvers<void>()
    const socket = open(async (response) => {
      response.open(STREAM)
      response.gone.addEventListener('abort', () => left.resolve())
      await left.promise
      expect(response.write('data: 1\n\n')).toBe(true)
      await response.drained()
    })
    await once(socket, 'data')
    socket.destroy()
    await left.promise
    await Promise.all(finished.splice(0))
  })

  it('gives up a stream with an event that says so, and JSON before its end', async () => {
    const stream = await get((response) => {
      response.open(STREAM)
      response.write('data: 1\n\n')
      response.giveUp()
    })
    expect(stream).toMatchObject({ text: `data: 1\n\n${OUT_OF_TIME}`, isWhole: true })
    const whole = await get((response) => {
      response.open(json(10))
      response.write('{')
      response.giveUp()
    })
    expect(whole).toMatchObject({ text: '{', isWhole: false })
  })
})

describe('readTarget', () => {
  it.each([
    ['/v1/models', '/v1/models', []],
    ['/v1/models?', '/v1/models', []],
    ['/v1/models?a=1&b&a=2', '/v1/models', ['a', 'b']],
    ['/v1/models?%61=1?', '/v1/models', ['a']],
    [undefined, '/', []],
  ])('splits %j', (url, path, queryNames) => {
    expect(readTarget(url)).toEqual({ path, queryNames })
  })
})

describe('receivedOverHttp', () => {
  it('has every line of a header, the body, and the id of the platform', () => {
    const rawHeaders = ['Prefer', 'a', 'Lambda-Web-Request-Id', 'id-1', 'prefer', 'b', 'x-prefer', 'c']
    const target = { path: '/v1/models', queryNames: ['a'] }
    const received = receivedOverHttp({ rawHeaders }, target, Buffer.from('{}'))
    expect(received).toMatchObject({ ...target, body: Buffer.from('{}'), platformRequestId: 'id-1' })
    expect([received.headerLines('prefer'), received.headerLines('origin')]).toEqual([['a', 'b'], []])
  })
})
