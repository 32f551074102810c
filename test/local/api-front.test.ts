import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { ALL_ADMIN_ROUTES } from '#lambdas/admin/routes.ts'
import { ApiFront, routeRequest, toGatewayEvent } from '#local/api-front.ts'
import { type HttpServer, listen } from '#platform/http-server/http-server.ts'
import { readBody } from '#platform/http-server/request-bodies.ts'
import type { Route } from '#routes/define-route.ts'
import { ROUTES } from '#routes/index.ts'
import { useOpened } from '../engines/use-opened.ts'
import { answering, refusal, refused, startLocalApi } from './local-api.ts'

describe('ApiFront:', () => {
  const api = useOpened(startLocalApi)

  const OPEN = { statusCode: 200, headers: { 'content-type': 'text/plain' } }

  describe('a client of a streamed response', () => {
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

  describe('a buffered response over the local front', () => {
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
})

describe('toGatewayEvent:', () => {
  const events: APIGatewayProxyEvent[] = []

  let server: HttpServer
  beforeAll(async () => {
    server = await listen(async (request, response) => {
      const body = await readBody(request, 1_000_000)
      const url = new URL(request.url ?? '/', 'http://local')
      const routed = { resource: '/v1/things/{id}', pathParameters: { id: 'a' } }
      events.push(toGatewayEvent({ ...routed, request, requestId: 'request-1', url, body }))
      response.end()
    }, 0)
  })
  afterAll(() => server.close())

  /** Sends bytes as they are: no client library tidies them up. */
  async function eventOf(head: string, body: Buffer | string = ''): Promise<APIGatewayProxyEvent> {
    const socket = connect(server.port, '127.0.0.1')
    socket.write(`${head}\r\nhost: local\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`)
    socket.write(body)
    socket.resume()
    await once(socket, 'close')
    const event = events.pop()
    if (event === undefined) {
      throw new Error('no event')
    }
    return event
  }

  describe('an API Gateway event', () => {
    it('has method, path, resource, parameters and the id of its request', async () => {
      const event = await eventOf('GET /v1/things/a HTTP/1.1')
      expect(event).toMatchObject({
        httpMethod: 'GET',
        path: '/v1/things/a',
        resource: '/v1/things/{id}',
        pathParameters: { id: 'a' },
        body: null,
        isBase64Encoded: false,
        queryStringParameters: null,
        multiValueQueryStringParameters: null,
      })
      expect(event.requestContext.requestId).toBe('request-1')
    })

    it('keeps header names as they came, the last value of each, and all of them beside', async () => {
      const event = await eventOf('GET / HTTP/1.1\r\nX-Thing: 1\r\nX-Thing: 2')
      expect(event.headers['X-Thing']).toBe('2')
      expect(event.multiValueHeaders['X-Thing']).toEqual(['1', '2'])
    })

    it('decodes the query and keeps every value of a repeated name', async () => {
      const event = await eventOf('GET /v1?limit=5&limit=6&after=a%20b HTTP/1.1')
      expect(event.queryStringParameters).toEqual({ limit: '6', after: 'a b' })
      expect(event.multiValueQueryStringParameters).toEqual({ limit: ['5', '6'], after: ['a b'] })
    })

    it('has no query after a lone question mark', async () => {
      const event = await eventOf('GET /v1? HTTP/1.1')
      expect(event).toMatchObject({ queryStringParameters: null, multiValueQueryStringParameters: null })
    })

    it('takes names of headers and queries for names, whatever they mean in JavaScript', async () => {
      const event = await eventOf('GET /v1?__proto__=1&constructor=2 HTTP/1.1\r\n__proto__: 3\r\ntoString: 4')
      const query = event.multiValueQueryStringParameters
      expect(Object.entries(query ?? {})).toEqual([
        ['__proto__', ['1']],
        ['constructor', ['2']],
      ])
      expect(Object.entries(event.headers)).toEqual(
        expect.arrayContaining([
          ['__proto__', '3'],
          ['toString', '4'],
        ]),
      )
    })

    it('carries a text body as it is', async () => {
      expect(await eventOf('POST / HTTP/1.1', '{"prompt":"船"}')).toMatchObject({
        body: '{"prompt":"船"}',
        isBase64Encoded: false,
      })
    })

    it('carries bytes that are no UTF-8 as base64', async () => {
      const bytes = Buffer.from([0x7b, 0xff, 0x7d])
      const event = await eventOf('POST / HTTP/1.1', bytes)
      expect(event.isBase64Encoded).toBe(true)
      expect(Buffer.from(event.body ?? '', 'base64').equals(bytes)).toBe(true)
    })
  })

  describe('what is left of the differences from API Gateway', () => {
    it('the identity is the address and the user agent alone, and the stage is called local', async () => {
      const { requestContext } = await eventOf('GET / HTTP/1.1\r\nUser-Agent: test')
      expect(requestContext).toMatchObject({
        stage: 'local',
        identity: { sourceIp: '127.0.0.1', userAgent: 'test', apiKey: null },
      })
    })
  })
})

describe('a route of the local API', () => {
  it.each<Route>([...ROUTES])(
    '$method $path goes to $operation, which streams or not, for as long as on AWS',
    (route) => {
      const path = route.path.replace(/\{\w+\}/, 'some%20id')
      const { target, resource, pathParameters, streams } = routeRequest(route.method, path)
      expect({ name: target.name, resource, streams }).toEqual({
        name: route.operation,
        resource: route.path,
        streams: route.streams === true,
      })
      expect(target.timeoutSeconds).toBe(route.streams === true ? 900 : 29)
      const name = /\{(\w+)\}/.exec(route.path)?.[1]
      expect(pathParameters).toEqual(name === undefined ? null : { [name]: 'some id' })
    },
  )

  it.each(ALL_ADMIN_ROUTES)('$method $path goes to the function $function of the admin API', (route) => {
    const { target, resource, streams } = routeRequest(route.method, route.path.replace(/\{\w+\}/, 'some%20id'))
    expect({ name: target.name, resource, streams }).toEqual({
      name: `admin-${route.function}`,
      resource: '/admin/v1/{proxy+}',
      streams: false,
    })
  })

  it.each([
    ['GET', '/admin/v1/nothing', 'admin-read'],
    ['PUT', '/admin/v1/session', 'admin-write'],
    ['GET', '/admin/v2/session', 'fallback'],
  ])('%s %s, which is none, goes to %s', (method, path, name) => {
    expect(routeRequest(method, path).target.name).toBe(name)
  })

  it.each([
    ['/health', 'get-health'],
    ['/openapi.json', 'get-openapi-document'],
  ])('answers the HEAD of a monitor as the GET of %s', (path, operation) => {
    expect(routeRequest('HEAD', path).target.name).toBe(operation)
  })

  it.each([
    ['GET', '/'],
    ['HEAD', '/v1/models'],
    ['GET', '/v1/models/'],
    ['GET', '/v1/models/a/b'],
    ['DELETE', '/v1/models/a'],
    ['GET', '/v1/chat/completions'],
    ['POST', '/v1/chat/completions/'],
    ['POST', '/v1/%63hat/completions'],
    ['PUT', '/v1/video/generations'],
    ['post', '/v1/chat/completions'],
  ])('%s %s goes to the fallback', (method, path) => {
    const { target, pathParameters, streams } = routeRequest(method, path)
    expect({ name: target.name, streams }).toEqual({ name: 'fallback', streams: false })
    expect(pathParameters).toEqual({ proxy: path.slice(1) })
  })
})
