import type { RequestListener } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type HttpServer, listen } from '#platform/http-server/http-server.ts'
import { writeInSlices } from '#platform/http-server/unread-responses.ts'

const HOST = 'host: local'

let server: HttpServer
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

describe('the requests of one connection', () => {
  const pipelined = (count: number) => `GET /a HTTP/1.1\r\n${HOST}\r\n\r\n`.repeat(count)

  it('are served one after the other, in their order', async () => {
    const facts: string[] = []
    listener = (request, response) => {
      facts.push(`begin ${request.url}`)
      setImmediate(() => {
        facts.push(`end ${request.url}`)
        response.end(request.url)
      })
    }
    const paths = ['/a', '/b', '/c']
    const text = await send([
      paths.map((path) => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`).join('\r\n'),
      'GET /d HTTP/1.0',
    ])
    expect(text.match(/\n\/[a-d]/g)).toEqual(['\n/a', '\n/b', '\n/c', '\n/d'])
    expect(facts).toEqual(['/a', '/b', '/c', '/d'].flatMap((path) => [`begin ${path}`, `end ${path}`]))
  })

  it('have bodies of their own, which wait for their turn', async () => {
    listener = async (request, response) => {
      const chunks = await request.toArray()
      setImmediate(() => response.end(String(Buffer.concat(chunks).length)))
    }
    const body = 'x'.repeat(200_000)
    const one = `POST / HTTP/1.1\r\n${HOST}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    const text = await send(
      [one + one + one.replace('HTTP/1.1', 'HTTP/1.0')].map((each) => each.slice(0, -4)),
      'xxxx',
    )
    expect(text.match(/\n200000/g)).toHaveLength(3)
  })

  it('that reads nothing have one answer made at a time, however many they are', async () => {
    let made = 0
    listener = (_request, response) => {
      made += 1
      response.end(Buffer.alloc(32 * 1024 * 1024))
    }
    const socket = connect(server.port, '127.0.0.1')
    socket.pause()
    socket.write(pipelined(60))
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(made).toBe(1)
    socket.destroy()
  })

  it('may be 64 at a time; one more ends them with a sentence, and none of them is begun any more', async () => {
    let begun = 0
    listener = (_request, response) => {
      begun += 1
      setTimeout(() => response.end('late'), 50)
    }
    const refusedFlood = await sendUntilClosed(pipelined(5_000))
    expect(parse(refusedFlood)).toMatchObject({
      status: 429,
      headers: { connection: 'close', 'x-request-id': expect.any(String) },
      body: expect.stringContaining('"code":"rate_limit_exceeded"'),
    })
    expect(begun).toBe(1)
    listener = (_request, response) => response.end('in time')
    expect((await sendUntilClosed(`${pipelined(63)}GET / HTTP/1.0\r\n\r\n`)).match(/in time/g)).toHaveLength(64)
  })

  it('leave room for other connections, however soon each is answered: one begins for each turn of the event loop', async () => {
    let [begunInOneTurn, most] = [0, 0]
    const nextTurn = () => {
      begunInOneTurn = 0
      ticker = setImmediate(nextTurn)
    }
    let ticker = setImmediate(nextTurn)
    listener = (request, response) => {
      begunInOneTurn += 1
      most = Math.max(most, begunInOneTurn)
      request.resume()
      response.end('at once')
    }
    const post = `POST /a HTTP/1.1\r\n${HOST}\r\ncontent-length: 2\r\n\r\n{}`
    const text = await sendUntilClosed(`${post.repeat(63)}GET / HTTP/1.0\r\n\r\n`)
    clearImmediate(ticker)
    expect(text.match(/at once/g)).toHaveLength(64)
    // The first one begins where the bytes are read, the second one at the end of that turn.
    expect(most).toBeLessThanOrEqual(2)
  })

  it('are followed by the refusal of what is no request, also when they were answered at once', async () => {
    listener = (_request, response) => response.end('at once')
    const text = await sendUntilClosed(`${pipelined(1)}NO REQUEST\r\n\r\n`)
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400'])
  })

  it('are not begun for a client that has left', async () => {
    const begun: (string | undefined)[] = []
    const closed = Promise.withResolvers<void>()
    listener = (request, response) => {
      begun.push(request.url)
      response.once('close', () => setImmediate(closed.resolve))
    }
    const socket = connect(server.port, '127.0.0.1')
    socket.write(pipelined(5), () => setTimeout(() => socket.destroy(), 50))
    await closed.promise
    expect(begun).toEqual(['/a'])
  })

  function sendUntilClosed(bytes: string): Promise<string> {
    return new Promise((resolve) => {
      let text = ''
      const socket = connect(server.port, '127.0.0.1')
      socket.setEncoding('latin1').on('data', (data) => {
        text += data
      })
      socket.on('error', () => undefined).on('close', () => resolve(text))
      socket.write(bytes)
    })
  }
})

describe('a connection whose client', () => {
  const STALLED_MILLISECONDS = 1500
  const ANSWER = Buffer.alloc(24 * 1024 * 1024, 'x')
  let strict: HttpServer
  let answered: Promise<void> | undefined
  beforeAll(async () => {
    strict = await listen(
      (request, response) => {
        answered = new Promise((resolve) => response.once('close', resolve))
        if (request.url === '/late') {
          setTimeout(() => response.end('late'), 3 * STALLED_MILLISECONDS)
        } else {
          response.writeHead(200, { 'content-length': ANSWER.length })
          writeInSlices(response, ANSWER, { onTaken: () => undefined, onDone: () => response.end() })
        }
      },
      0,
      STALLED_MILLISECONDS,
    )
  })
  afterAll(() => strict.close())

  const open = (path: string) => {
    const socket = connect(strict.port, '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.1\r\n${HOST}\r\nconnection: close\r\n\r\n`)
    return socket
  }

  it('takes nothing of an answer is closed', async () => {
    const socket = open('/').pause()
    await new Promise((resolve) => socket.once('connect', resolve))
    await eventually(() => answered)
    socket.on('error', () => undefined).destroy()
  })

  it('reads slowly and steadily gets every byte', async () => {
    let bytes = 0
    const socket = open('/')
    socket.on('data', (data) => {
      bytes += data.length
      socket.pause()
      setTimeout(() => socket.resume(), 5)
    })
    await new Promise((resolve) => socket.once('close', resolve))
    expect(bytes).toBeGreaterThan(ANSWER.length)
  })

  it('waits for an answer is left open', async () => {
    expect(String(await new Promise((resolve) => open('/late').once('data', resolve)))).toContain('late')
  })
})

async function eventually(promise: () => Promise<void> | undefined): Promise<void> {
  while (promise() === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await promise()
}
