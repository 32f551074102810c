import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type GatewayError, INTERNAL_ERROR, REQUEST_TOO_LARGE } from '#core/api/api-gateway.ts'
import {
  BAD_RESPONSE,
  closeInStages,
  EXPECTATION_FAILED,
  gatewayErrorBytes,
  sendGatewayError,
  tooManyRequestsAtOnce,
} from '#platform/http-server/gateway-error.ts'
import { type HttpServer, listen } from '#platform/http-server/http-server.ts'
import { readBody, refusalOf } from '#platform/http-server/request-bodies.ts'

describe('sendGatewayError', () => {
  let error: GatewayError = INTERNAL_ERROR
  let server: HttpServer
  beforeAll(async () => {
    server = await listen((_request, response) => sendGatewayError(response, 'request-1', error), 0)
  })
  afterAll(() => server.close())

  it.each([
    [REQUEST_TOO_LARGE, 413, 'invalid_request_error'],
    [tooManyRequestsAtOnce(64), 429, 'rate_limit_error'],
    [INTERNAL_ERROR, 500, 'server_error'],
    [BAD_RESPONSE, 502, 'server_error'],
  ])('%j is sent with status %i and type %s, under the id of the request', async (given, status, type) => {
    error = given
    const response = await fetch(`http://127.0.0.1:${server.port}/`)
    expect([response.status, response.headers.get('x-request-id')]).toEqual([status, 'request-1'])
    expect(response.headers.get('connection')).toBe('close')
    expect(await response.json()).toEqual({
      error: { message: given.message, type, param: null, code: given.code },
    })
  })

  it('is written as a whole HTTP response where Node has no request to answer', () => {
    const [head = '', body = ''] = gatewayErrorBytes('request-1', EXPECTATION_FAILED).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 417 Expectation Failed\r\n/)
    expect(head).toContain(`content-length: ${Buffer.byteLength(body)}`)
    expect(JSON.parse(body)).toMatchObject({ error: { type: 'invalid_request_error' } })
  })

  it('can be read by scripts of any origin where browsers may use the API, and only there', async () => {
    const allowed = async () => {
      const { headers } = await fetch(`http://127.0.0.1:${server.port}/`)
      return [
        headers.get('access-control-allow-origin'),
        gatewayErrorBytes('r', BAD_RESPONSE).includes('allow-origin: *'),
      ]
    }
    expect(await allowed()).toEqual([null, false])
    process.env.CORS_ORIGINS = 'https://app.example.com'
    try {
      expect(await allowed()).toEqual(['*', true])
    } finally {
      delete process.env.CORS_ORIGINS
    }
  })

  it('says how many requests may wait', () => {
    expect(tooManyRequestsAtOnce(64).message).toContain('at most 64 may')
  })
})

describe('a refusal of a body that is still being sent', () => {
  const MIB = 1024 * 1024
  const REFUSED_BYTES = 10 * MIB
  const SENT_BYTES = 24 * MIB
  const ROUNDS = 4

  let server: HttpServer
  let bounds: { bytesMax: number; milliseconds: number } | undefined
  beforeAll(async () => {
    server = await listen((incoming, response) => {
      readBody(incoming, REFUSED_BYTES).then(
        () => response.end('read'),
        (error: unknown) => {
          if (bounds === undefined) {
            sendGatewayError(response, 'request-1', refusalOf(error))
          } else {
            closeInStages(response, bounds)
            response.writeHead(413, { 'content-length': 0 }).end()
          }
        },
      )
    }, 0)
  })
  afterAll(() => server.close())

  /** The end of a connection, broken or not. */
  const closeOf = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve))

  /** Writes everything before it reads anything of the response, as blocking clients do. */
  async function writeAsItGoes(framing: 'length' | 'chunks', bytes = SENT_BYTES) {
    const socket = connect(server.port, '127.0.0.1').setEncoding('utf8')
    const closed = closeOf(socket)
    let error: string | undefined
    socket.on('error', ({ message }) => {
      error = message
    })
    socket.pause()
    const head = framing === 'length' ? `content-length: ${bytes}` : 'transfer-encoding: chunked'
    socket.write(`POST / HTTP/1.1\r\nhost: local\r\n${head}\r\n\r\n`)
    const part = Buffer.alloc(MIB, ' ')
    for (let sent = 0; sent < bytes && error === undefined; sent += MIB) {
      const piece = framing === 'length' ? part : Buffer.concat([Buffer.from('100000\r\n'), part, Buffer.from('\r\n')])
      await new Promise((resolve) => socket.write(piece, resolve))
    }
    let text = ''
    socket.on('data', (data) => {
      text += data
    })
    socket.resume()
    await closed
    return { status: text.slice(0, 12), error }
  }

  /** Node's own client. */
  function sendByNode(): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const sending = request({ port: server.port, method: 'POST', agent: false }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode))
      })
      sending.on('error', reject)
      for (let sent = 0; sent < SENT_BYTES; sent += MIB) {
        sending.write(Buffer.alloc(MIB, ' '))
      }
      sending.end()
    })
  }

  it.each(['length', 'chunks'] as const)('reaches a client that writes as it goes (%s), each time', async (framing) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      expect(await writeAsItGoes(framing)).toEqual({ status: 'HTTP/1.1 413', error: undefined })
    }
  })

  it('reaches the client of Node, each time', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      expect(await sendByNode()).toBe(413)
    }
  })

  it.each([
    ['bytes', { bytesMax: MIB, milliseconds: 3_600_000 }],
    ['time', { bytesMax: 1024 * MIB, milliseconds: 50 }],
  ])('is followed by no more than the bound of %s', async (_, given) => {
    bounds = given
    const began = performance.now()
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => undefined).resume()
    socket.write(`POST / HTTP/1.1\r\nhost: local\r\ncontent-length: ${1024 * MIB}\r\n\r\n`)
    const closed = closeOf(socket)
    const drip = setInterval(() => socket.write(Buffer.alloc(64 * 1024)), 1)
    await closed
    clearInterval(drip)
    bounds = undefined
    // Far below the bound of time by default, and far above this one, whatever else the machine does.
    expect(performance.now() - began).toBeLessThan(15_000)
    expect(socket.bytesRead).toBeGreaterThan(0)
    expect(socket.bytesWritten).toBeLessThan(512 * MIB)
  })
})
