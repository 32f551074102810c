import { once } from 'node:events'
import { connect } from 'node:net'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HttpServer, listen } from '#adapters/http-server/http-server.ts'
import { readBody } from '#adapters/http-server/read-body.ts'
import { toGatewayEvent } from '#local/api-front.ts'

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
