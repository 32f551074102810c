import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import { DynamoDBClient, GetItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb'
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { AwsConnectionError, AwsServiceError, awsEndpoint, callAwsService } from '#platform/aws/call-aws-service.ts'
import { isContention } from '#platform/aws/retry-on-contention.ts'
import { type AwsCredentials, type SigningScope, signRequest } from '#platform/aws/signature-v4.ts'
import { MissingEnvironmentError } from '#platform/configuration.ts'
import { type Loopback, listenHttp, listenTcp } from '../http/loopback.ts'

describe('signRequest', () => {
  // The ends of signatures by `@smithy/signature-v4`.
  it.each([
    ['/openai/v1/chat/completions', '09dba1f5595834e19ae0'],
    ['/model/a:b/x', 'a5ec071909ae60834d6d'],
    ["/m/(1)*~'!/%C3%A4%20/v1", 'd6a7c5bedb86293da6e4'],
    ['/arn%3Aaws%2Fx/invoke', '5ad7b37bfc4284efb3e1'],
  ])('signs the path %s as the SDK does', (path, end) => {
    const credentials = { accessKeyId: 'ASIA', secretAccessKey: 's', sessionToken: 't' }
    const scope = { service: 'bedrock', region: 'us-east-1', credentials, nowMilliseconds: Date.UTC(2026, 10, 28) }
    const headers = { host: 'h.example', 'content-type': 'application/json' }
    expect(signRequest({ path, headers, body: '{"a":1}' }, scope).authorization).toMatch(new RegExp(`${end}$`))
  })
})

describe('callAwsService:', () => {
  const before = { ...process.env }
  const servers: Loopback[] = []
  beforeEach(() => {
    delete process.env.AWS_SESSION_TOKEN
    Object.assign(process.env, { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret' })
  })
  afterEach(async () => {
    jest.useRealTimers()
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
  const secret = () =>
    callAwsService({ service: 'secretsmanager', target: 'secretsmanager.GetSecretValue', body: '{}' })
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
    ])('with a reply %s counts as contention', async (_, answer) => {
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
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'Date', 'queueMicrotask', 'performance'] })

    it('for the answer is three seconds', async () => {
      const arrived = Promise.withResolvers<void>()
      await serve(() => arrived.resolve())
      fakeTimeouts()
      const call = failure(get())
      await arrived.promise
      // Real milliseconds have passed since the call began.
      jest.advanceTimersByTime(2_000)
      expect(await Promise.race([call, Promise.resolve('waiting')])).toBe('waiting')
      jest.advanceTimersByTime(1_000)
      expect(await call).toMatchObject({ name: 'AwsConnectionError', message: 'no response in time' })
    })

    it('for the connection is one second', async () => {
      await serve(json(200, {}))
      fakeTimeouts()
      const call = failure(get())
      // The socket is there and has not connected yet.
      await new Promise((resolve) => process.nextTick(resolve))
      jest.advanceTimersByTime(1_000)
      expect(await call).toMatchObject({ name: 'AwsConnectionError', message: 'no connection in time' })
    })

    it('leaves no timer behind once a call is answered', async () => {
      const { server } = await serve(json(200, {}))
      fakeTimeouts()
      await get()
      expect(jest.getTimerCount()).toBe(0)
      expect(server.sockets.every(({ destroyed }) => !destroyed)).toBe(true)
    })
  })
})

describe('the endpoint of a service', () => {
  const NAMES = ['AWS_REGION', 'AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_DYNAMODB', 'AWS_ENDPOINT_URL_SECRETS_MANAGER']
  const before = { ...process.env }
  beforeEach(() => {
    for (const name of NAMES) {
      delete process.env[name]
    }
  })
  afterEach(() => {
    process.env = { ...before }
  })

  const originOf = (service: 'dynamodb' | 'secretsmanager', environment: Record<string, string>) => {
    Object.assign(process.env, environment)
    return awsEndpoint(service).url.origin
  }

  it.each([
    ['dynamodb', 'eu-central-1', 'https://dynamodb.eu-central-1.amazonaws.com'],
    ['secretsmanager', 'us-gov-west-1', 'https://secretsmanager.us-gov-west-1.amazonaws.com'],
    ['dynamodb', 'cn-north-1', 'https://dynamodb.cn-north-1.amazonaws.com.cn'],
  ] as const)('of %s in %s is %s', (service, region, origin) => {
    expect(originOf(service, { AWS_REGION: region })).toBe(origin)
  })

  it('is what the environment names for all services, and for this one before that', () => {
    expect(originOf('dynamodb', { AWS_REGION: 'eu-central-1', AWS_ENDPOINT_URL: 'http://127.0.0.1:1' })).toBe(
      'http://127.0.0.1:1',
    )
    expect(originOf('dynamodb', { AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:2' })).toBe('http://127.0.0.1:2')
    expect(originOf('secretsmanager', {})).toBe('http://127.0.0.1:1')
    expect(originOf('secretsmanager', { AWS_ENDPOINT_URL_SECRETS_MANAGER: 'http://127.0.0.1:3' })).toBe(
      'http://127.0.0.1:3',
    )
  })

  it('needs a region', () => {
    expect(() => awsEndpoint('dynamodb')).toThrow(MissingEnvironmentError)
  })
})

describe('AwsServiceError', () => {
  it.each([
    ['com.amazonaws.dynamodb.v20120810#ThrottlingException', 'ThrottlingException'],
    ['AccessDeniedException', 'AccessDeniedException'],
    [undefined, 'UnknownError'],
  ])('takes its name from the type %s', (__type, name) => {
    expect(new AwsServiceError(400, undefined, { __type }).name).toBe(name)
  })

  it.each([
    ['message', { message: 'words' }, 'words'],
    ['Message', { Message: 'words' }, 'words'],
    ['the name', { __type: 'x#Busy' }, 'Busy'],
  ])('takes its message from %s', (_, body, message) => {
    expect(new AwsServiceError(400, undefined, body).message).toBe(message)
  })

  it.each([
    [499, 'client'],
    [500, 'server'],
  ])('says whose fault a %i is: %s', (status, fault) => {
    expect(new AwsServiceError(status, 'R1')).toMatchObject({
      $fault: fault,
      $metadata: { httpStatusCode: status, requestId: 'R1' },
    })
  })
})

describe('AwsConnectionError', () => {
  it('says of nobody that the fault was theirs', () => {
    expect(new AwsConnectionError('no connection in time')).not.toHaveProperty('$fault')
  })
})

/** Of AWS's own test suite for Signature Version 4, which publishes these credentials. */
const SUITE: SigningScope = {
  service: 'service',
  region: 'us-east-1',
  credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' },
  nowMilliseconds: Date.UTC(2015, 7, 30, 12, 36, 0),
}

const host = 'example.amazonaws.com'
const form = 'application/x-www-form-urlencoded'
const SUITE_TOKEN =
  'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=='

const signatureOf = (headers: Readonly<Record<string, string>>) =>
  /Signature=(\w+)$/.exec(headers.authorization ?? '')?.[1]

describe('a signature', () => {
  it.each([
    ['post-vanilla', { host }, '', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [
      'post-header-key-sort',
      { host, 'my-header1': 'value1' },
      '',
      'c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c',
    ],
    [
      'post-header-value-case',
      { host, 'my-header1': 'VALUE1' },
      '',
      'cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d',
    ],
    [
      'post-x-www-form-urlencoded',
      { host, 'content-type': form },
      'Param1=value1',
      'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    ],
  ])('is the published one of %s', (_, headers, body, signature) => {
    expect(signatureOf(signRequest({ headers, body }, SUITE))).toBe(signature)
  })

  it('is the published one of post-sts-header-before: a session token is signed with the rest', () => {
    const scope = { ...SUITE, credentials: { ...SUITE.credentials, sessionToken: SUITE_TOKEN } }
    const signed = signRequest({ headers: { host }, body: '' }, scope)
    expect(signed['x-amz-security-token']).toBe(SUITE_TOKEN)
    expect(signatureOf(signed)).toBe('85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead')
  })

  it('is not changed by other regions, services and credentials in between', () => {
    const sign = (scope: Partial<SigningScope>) =>
      signatureOf(signRequest({ headers: { host }, body: '' }, { ...SUITE, ...scope }))
    const other: AwsCredentials = { ...SUITE.credentials, secretAccessKey: 'another' }
    const scopes = [{}, { region: 'eu-west-1' }, { service: 'dynamodb' }, { credentials: other }]
    const first = scopes.map(sign)
    expect(new Set(first).size).toBe(scopes.length)
    expect(scopes.map(sign)).toEqual(first)
  })
})

type Sent = { readonly headers: Record<string, string>; readonly body: string | Uint8Array }

/** Stops a request of the SDK on its way out. */
function capture() {
  const sent: Sent[] = []
  const requestHandler = {
    handle: async ({ headers, body }: Sent) => {
      sent.push({ headers, body })
      throw Object.assign(new Error('captured'), { name: 'Captured' })
    },
  }
  const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: 'token+/=' }
  return { sent, credentials, options: { region: 'eu-central-1', credentials, requestHandler, maxAttempts: 1 } }
}

describe('a signature of the SDK', () => {
  afterEach(() => {
    jest.useRealTimers()
  })

  it.each([
    [
      'a transaction',
      'dynamodb',
      (options: object) =>
        new DynamoDBClient(options).send(
          new TransactWriteItemsCommand({
            TransactItems: [{ Put: { TableName: 'table', Item: { PK: { S: 'ä 漢 "quoted"' } } } }],
          }),
        ),
    ],
    [
      'a read',
      'dynamodb',
      (options: object) =>
        new DynamoDBClient(options).send(new GetItemCommand({ TableName: 'table', Key: { PK: { S: 'a' } } })),
    ],
    [
      'a secret',
      'secretsmanager',
      (options: object) => new SecretsManagerClient(options).send(new GetSecretValueCommand({ SecretId: 'arn' })),
    ],
  ])('for %s is ours for the same headers, body and time, today and tomorrow', async (_, service, send) => {
    const { sent, credentials, options } = capture()
    await expect(send(options)).rejects.toThrow('captured')
    jest.useFakeTimers({ now: Date.now() + 86_400_000, doNotFake: ['nextTick', 'setImmediate', 'setTimeout'] })
    await expect(send(options)).rejects.toThrow('captured')
    const dates = sent.map(({ headers }) => lowerCased(headers)['x-amz-date']?.slice(0, 8))
    expect(new Set(dates).size).toBe(2)
    for (const request of sent) {
      expect(ourAuthorization(request, { service, region: options.region, credentials })).toBe(
        lowerCased(request.headers).authorization,
      )
    }
  })
})

/** What we say for a request of the SDK's, over the headers that it has signed. */
function ourAuthorization({ headers, body }: Sent, scope: Omit<SigningScope, 'nowMilliseconds'>): string | undefined {
  const { authorization = '', 'x-amz-date': date = '', ...others } = lowerCased(headers)
  const signedNames = /SignedHeaders=([^,]+)/.exec(authorization)?.[1]?.split(';') ?? []
  const names = signedNames.filter((name) => !/^x-amz-(date|security-token)$/.test(name))
  const unsigned = Object.fromEntries(names.map((name) => [name, others[name] ?? '']))
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  return signRequest({ headers: unsigned, body: text }, { ...scope, nowMilliseconds: parseTime(date) }).authorization
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/** `20150830T123600Z` */
function parseTime(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
}
