import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AwsConnectionError, AwsServiceError } from '#adapters/aws/aws-service-error.ts'
import { callAwsService } from '#adapters/aws/call-aws-service.ts'
import { isContention } from '#adapters/aws/retry-on-contention.ts'
import { MissingEnvironmentError } from '#adapters/environment.ts'
import { type Loopback, listenHttp, listenTcp } from '../outbound/loopback.ts'

const before = { ...process.env }
const servers: Loopback[] = []
beforeEach(() => {
  delete process.env.AWS_SESSION_TOKEN
  Object.assign(process.env, { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret' })
})
afterEach(async () => {
  vi.useRealTimers()
  await Promise.all(servers.splice(0).map((server) => server.stop()))
  process.env = { ...before }
})

function use(server: Loopback): Loopback {
  servers.push(server)
  process.env.AWS_ENDPOINT_URL = server.origin
  return server
}

type Received = { readonly method: string | undefined; readonly url: string | undefined; readonly body: string }

/** Answers every request alike and keeps what came. */
async function serve(answer: RequestListener) {
  const received: (Received & { readonly headers: IncomingHttpHeaders })[] = []
  const server = use(
    await listenHttp(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString('utf8')
      received.push({ method: request.method, url: request.url, headers: request.headers, body })
      answer(request, response)
    }),
  )
  return { received, server }
}

const json =
  (status: number, body: unknown): RequestListener =>
  (_, response) => {
    response.writeHead(status, { 'x-amzn-requestid': 'R1' }).end(JSON.stringify(body))
  }

const get = () => callAwsService({ service: 'dynamodb', target: 'DynamoDB_20120810.GetItem', body: '{"Key":"ä"}' })
const secret = () => callAwsService({ service: 'secretsmanager', target: 'secretsmanager.GetSecretValue', body: '{}' })
const failure = async (call: Promise<unknown>): Promise<unknown> => await call.catch((reason: unknown) => reason)

describe('a call', () => {
  it('is a signed POST of the body, in the protocol of its service, and gives the parsed answer', async () => {
    const { received } = await serve(json(200, { Item: { PK: { S: 'a' } } }))
    expect(await get()).toEqual({ Item: { PK: { S: 'a' } } })
    await secret()
    expect(received).toMatchObject([
      {
        method: 'POST',
        url: '/',
        body: '{"Key":"ä"}',
        headers: {
          'content-type': 'application/x-amz-json-1.0',
          'content-length': '12',
          'x-amz-target': 'DynamoDB_20120810.GetItem',
          authorization: expect.stringMatching(
            /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/us-east-1\/dynamodb\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=\w{64}$/,
          ),
        },
      },
      {
        headers: {
          'content-type': 'application/x-amz-json-1.1',
          authorization: expect.stringContaining('/us-east-1/secretsmanager/'),
        },
      },
    ])
  })

  it('is signed with the credentials that the environment has at that moment', async () => {
    const { received } = await serve(json(200, {}))
    await get()
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'NEXT', AWS_SESSION_TOKEN: 'token' })
    await get()
    const [first, second] = received.map(({ headers }) => headers)
    expect(first?.['x-amz-security-token']).toBeUndefined()
    expect(second?.authorization).toMatch(/Credential=NEXT\/.*;x-amz-security-token;/)
    expect(second?.['x-amz-security-token']).toBe('token')
  })

  it('without credentials sends nothing and names what is missing', async () => {
    const { received } = await serve(json(200, {}))
    delete process.env.AWS_SECRET_ACCESS_KEY
    const error = await failure(get())
    expect(error).toBeInstanceOf(MissingEnvironmentError)
    expect(String(error)).toContain('AWS_SECRET_ACCESS_KEY')
    expect(received).toEqual([])
  })
})

describe('an error of the service', () => {
  it('has the name, fault, request id and reasons that code looks at', async () => {
    const reasons = [{ Code: 'None' }, { Code: 'ConditionalCheckFailed', Item: { PK: { S: 'a' } } }]
    const __type = 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException'
    await serve(json(400, { __type, Message: 'cancelled', CancellationReasons: reasons }))
    const error = await failure(get())
    expect(error).toBeInstanceOf(AwsServiceError)
    expect(error).toMatchObject({
      name: 'TransactionCanceledException',
      message: 'cancelled',
      $fault: 'client',
      $metadata: { httpStatusCode: 400, requestId: 'R1' },
      CancellationReasons: reasons,
    })
  })

  it.each([
    ['throttling', 400, { __type: 'x#ThrottlingException' }, true],
    ['an exceeded throughput', 400, { __type: 'x#ProvisionedThroughputExceededException' }, true],
    ['a transaction in progress', 400, { __type: 'x#TransactionInProgressException' }, true],
    ['a fault of the service', 500, { __type: 'InternalServerError' }, true],
    ['a page of a proxy that failed', 503, 'busy', true],
    ['a request that is wrong', 400, { __type: 'x#ValidationException' }, false],
    ['expired credentials', 400, { __type: 'x#ExpiredTokenException' }, false],
    ['a page of a proxy that refuses', 403, 'no', false],
  ])('counts %s as contention exactly if another try helps', async (_, status, body, isWorthAnother) => {
    await serve(json(status, body))
    expect(isContention(await failure(get()))).toBe(isWorthAnother)
  })
})

describe('a connection', () => {
  it('is kept for the next call', async () => {
    const { server } = await serve(json(200, {}))
    for (let call = 0; call < 3; call += 1) {
      await get()
    }
    expect(server.sockets).toHaveLength(1)
  })

  it('that the service closed while it was idle is replaced, and the call is answered', async () => {
    let connections = 0
    const server = use(
      await listenTcp((socket) => {
        connections += 1
        const isFirst = connections === 1
        let requests = 0
        socket.on('data', (bytes) => {
          requests += bytes.includes('POST /') ? 1 : 0
          if (isFirst && requests === 2) {
            socket.resetAndDestroy()
          } else {
            socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 16\r\n\r\n{"connection":${isFirst ? 1 : 2}}`)
          }
        })
      }),
    )
    expect(await get()).toEqual({ connection: 1 })
    expect(await get()).toEqual({ connection: 2 })
    expect(server.sockets).toHaveLength(2)
  })

  it('of its own that breaks before the answer is told, and the request is not sent again', async () => {
    const server = use(await listenTcp((socket) => socket.on('data', () => socket.resetAndDestroy())))
    const error = await failure(get())
    expect(error).toBeInstanceOf(AwsConnectionError)
    expect(isContention(error)).toBe(true)
    expect(server.sockets).toHaveLength(1)
  })

  it.each([
    ['cut in the middle', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"half":'],
    ['that is no JSON', 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nwell'],
    ['that changes the protocol', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
    ['that is no HTTP', 'well\r\n\r\n'],
  ])('with an answer %s counts as contention', async (_, answer) => {
    use(await listenTcp((socket) => socket.on('data', () => socket.end(answer))))
    expect(isContention(await failure(get()))).toBe(true)
  })

  it('that nobody takes counts as contention', async () => {
    const { server } = await serve(json(200, {}))
    await server.stop()
    servers.length = 0
    expect(isContention(await failure(get()))).toBe(true)
  })
})

describe('time', () => {
  const fakeTimeouts = () =>
    vi.useFakeTimers({ toNotFake: ['nextTick', 'setImmediate', 'Date', 'queueMicrotask', 'performance'] })

  it('for the answer is three seconds', async () => {
    const arrived = Promise.withResolvers<void>()
    await serve(() => arrived.resolve())
    fakeTimeouts()
    const call = failure(get())
    await arrived.promise
    // Real milliseconds have passed since the call began.
    vi.advanceTimersByTime(2_000)
    expect(await Promise.race([call, Promise.resolve('waiting')])).toBe('waiting')
    vi.advanceTimersByTime(1_000)
    expect(await call).toMatchObject({ name: 'AwsConnectionError', message: 'no answer in time' })
  })

  it('for the connection is one second', async () => {
    await serve(json(200, {}))
    fakeTimeouts()
    const call = failure(get())
    // The socket is there and has not connected yet.
    await new Promise((resolve) => process.nextTick(resolve))
    vi.advanceTimersByTime(1_000)
    expect(await call).toMatchObject({ name: 'AwsConnectionError', message: 'no connection in time' })
  })

  it('leaves no timer behind once a call is answered', async () => {
    const { server } = await serve(json(200, {}))
    fakeTimeouts()
    await get()
    expect(vi.getTimerCount()).toBe(0)
    expect(server.sockets.every(({ destroyed }) => !destroyed)).toBe(true)
  })
})
