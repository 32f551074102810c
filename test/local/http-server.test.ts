import type { RequestListener } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type LocalServer, listen } from '#local/http-server.ts'

const HOST = 'host: local'

let server: LocalServer
let listener: RequestListener
beforeAll(async () => {
  server = await listen((request, response) => listener(request, response), 0)
})
beforeEach(() => {
  listener = (request, response) => {
    request.on('error', () => {})
    request.resume().once('end', () => response.end(request.url))
  }
})
afterAll(() => server.close())

/** Sends lines as they are and reads until the server hangs up. */
function send(lines: readonly string[], body = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(server.port, '127.0.0.1')
    socket.setEncoding('latin1').on('data', (data) => {
      text += data
    })
    socket.on('error', reject).on('close', () => resolve(text))
    socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  })
}

/** One answer in its parts. */
function parse(answer: string) {
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(lines.map((line) => [line.split(': ')[0]?.toLowerCase(), line.split(': ')[1]]))
  return { status: Number(statusLine.split(' ')[1]), headers, body }
}

const REFUSED = '{"error":{"message":"request refused","type":"invalid_request_error","param":null,"code":null}}'

function refused(status: number) {
  return {
    status,
    headers: expect.objectContaining({
      'content-type': 'application/json',
      'content-length': String(REFUSED.length),
      'x-request-id': expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/),
      connection: 'close',
    }),
    body: REFUSED,
  }
}

describe('what is no request is refused in the one shape, under an id, and never reaches the listener', () => {
  it.each<[string, readonly string[], number]>([
    ['words', ['hello'], 400],
    ['a request without a host', ['GET / HTTP/1.1'], 400],
    ['an unknown method', ['BREW / HTTP/1.1', HOST], 400],
    ['two lengths of a body', ['POST / HTTP/1.1', HOST, 'content-length: 3', 'transfer-encoding: chunked'], 400],
    ['headers beyond what a server takes', ['GET / HTTP/1.1', HOST, `a: ${'x'.repeat(20_000)}`], 431],
    ['an expectation that nobody knows', ['GET / HTTP/1.1', HOST, 'expect: wonders'], 417],
  ])('%s', async (_, lines, status) => {
    let calls = 0
    listener = (_request, response) => {
      calls += 1
      response.end()
    }
    expect(parse(await send(lines))).toEqual(refused(status))
    expect(calls).toBe(0)
  })

  it('each under another id', async () => {
    const ids = await Promise.all([send(['hello']), send(['hello'])])
    expect(new Set(ids.map((answer) => parse(answer).headers['x-request-id'])).size).toBe(2)
  })
})

describe('a body that is none', () => {
  const lines = ['POST / HTTP/1.1', HOST, 'transfer-encoding: chunked']

  it('is refused in the same way', async () => {
    expect(parse(await send(lines, 'zz\r\n'))).toEqual(refused(400))
  })

  it('cuts an answer that has begun, instead of being told inside it', async () => {
    listener = (request, response) => {
      request.on('error', () => {})
      response.write('part', () => request.resume())
    }
    expect(await send(lines, '1\r\nx\r\nzz\r\n')).not.toContain('request refused')
  })
})

describe('what follows a request and is none', () => {
  it('is refused behind the answer to the request, which is whole', async () => {
    listener = (request, response) => {
      response.writeHead(200, { 'content-length': 6 }).write('one')
      request.resume().once('end', () => setImmediate(() => response.end('two')))
    }
    const text = await send(['POST / HTTP/1.1', HOST, 'content-length: 2'], '{}and more\r\n\r\n')
    const end = text.indexOf('onetwo') + 'onetwo'.length
    expect(parse(text.slice(0, end))).toMatchObject({ status: 200, body: 'onetwo' })
    expect(parse(text.slice(end))).toEqual(refused(400))
  })
})

describe('the target of a request', () => {
  it.each([
    ['/v1/models?a=b', '/v1/models?a=b'],
    ['http://local/v1/models?a=b', '/v1/models?a=b'],
    ['HTTPS://local:443/v1/models', '/v1/models'],
    ['http://local', '/'],
    ['http://local?a=b', '/?a=b'],
    ['/http://local/', '/http://local/'],
  ])('(%s) is taken as its path', async (target, path) => {
    expect(parse(await send([`GET ${target} HTTP/1.1`, HOST, 'connection: close'])).body).toBe(path)
  })
})
