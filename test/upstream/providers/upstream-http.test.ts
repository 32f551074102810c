import { afterEach, describe, expect, it } from '@jest/globals'
import type { WholeOutcome, WholeRequest } from '#platform/http/http-client.ts'
import {
  CANCEL_LIMITS,
  createAccountCaller,
  createUpstreamHttp,
  POLL_LIMITS,
  SUBMIT_LIMITS,
  type UpstreamHttp,
} from '#upstream/providers/upstream-http.ts'
import { httpAnswer, type RawUpstream, startRawUpstream } from '../../relay/raw-upstream.ts'

const BODY = '{"prompt":"words 😀"}'

describe('createUpstreamHttp', () => {
  let http: UpstreamHttp
  let upstream: RawUpstream
  const open = async () => {
    http = createUpstreamHttp()
    upstream = await startRawUpstream(({ socket }) => socket.write(httpAnswer(200, '{}')))
    return { url: `${upstream.origin}/tasks`, headers: { Authorization: 'Bearer key' } }
  }
  afterEach(async () => {
    http.close()
    await upstream.stop()
  })

  it('sends a request that says who asks and how long it is', async () => {
    const request = await open()
    await http.send({ ...request, method: 'POST', body: BODY, limits: SUBMIT_LIMITS })
    expect(upstream.requests[0]?.head.split('\r\n')).toStrictEqual([
      'POST /tasks HTTP/1.1',
      'User-Agent: reelgate',
      'Accept-Encoding: identity',
      'Authorization: Bearer key',
      `Content-Length: ${Buffer.byteLength(BODY)}`,
      `Host: 127.0.0.1:${upstream.port}`,
      'Connection: close',
    ])
    expect(upstream.requests[0]?.body).toBe(BODY)
  })

  it('keeps connections for polls and opens one for each submit and cancel', async () => {
    const request = await open()
    await http.send({ ...request, method: 'GET', limits: POLL_LIMITS })
    await http.send({ ...request, method: 'GET', limits: POLL_LIMITS })
    expect(upstream.sockets).toHaveLength(1)
    await http.send({ ...request, method: 'POST', body: BODY, limits: SUBMIT_LIMITS })
    await http.send({ ...request, method: 'DELETE', limits: CANCEL_LIMITS })
    expect(upstream.sockets).toHaveLength(3)
  })
})

const CALL = { method: 'POST', path: '/tasks', body: { prompt: 'a cat' }, limits: SUBMIT_LIMITS } as const

function answerOf(status: number, body: object = {}): WholeOutcome {
  return { kind: 'response', status, headers: {}, text: JSON.stringify(body) }
}

/** An upstream that gives these answers in turn, to a caller whose key was replaced by `newKey`. */
function callerOf(answers: readonly WholeOutcome[], newKey: string | null = 'new') {
  const sent: WholeRequest[] = []
  const refused: string[] = []
  const call = createAccountCaller('https://upstream.example', {
    credential: async () => 'old',
    renewedCredential: async (key) => {
      refused.push(key)
      return newKey ?? undefined
    },
    http: {
      async send(request) {
        sent.push(request)
        return answers[sent.length - 1] ?? answerOf(500)
      },
      close() {},
    },
  })
  return { call, sent, refused, keys: () => sent.map(({ headers }) => headers.Authorization) }
}

describe('a call of a video upstream', () => {
  it.each([
    ['401', answerOf(401, { code: 'InvalidApiKey' })],
    ['401 without a body', answerOf(401)],
    ['403', answerOf(403, { code: 'AccessDenied' })],
    ['400 that names the key', answerOf(400, { error: { code: 'invalid_api_key' } })],
  ])(
    'is sent once more, unchanged, with the key that has replaced one that was refused with %s',
    async (_, refusal) => {
      const { call, sent, refused, keys } = callerOf([refusal, answerOf(200, { id: 'task' })])
      expect(await call(CALL)).toEqual(answerOf(200, { id: 'task' }))
      expect({ keys: keys(), refused }).toEqual({ keys: ['Bearer old', 'Bearer new'], refused: ['old'] })
      expect(sent[1]).toMatchObject({
        url: sent[0]?.url,
        method: 'POST',
        body: sent[0]?.body,
        limits: { connection: 'own' },
      })
    },
  )

  it.each([401, 403])('that was refused with %i beside the id of a task is not repeated', async (status) => {
    const refusal = answerOf(status, { code: 'AccessDenied', task: 'task-1' })
    const { call, sent, refused } = callerOf([refusal])
    expect(await call({ ...CALL, readTaskId: (body) => Object(body).task })).toEqual(refusal)
    expect({ sent: sent.length, refused }).toEqual({ sent: 1, refused: [] })
  })

  it('has for both tries together the time of one', async () => {
    const { call, sent } = callerOf([answerOf(401), answerOf(200)])
    await call(CALL)
    const [first = 0, second = 0] = sent.map(({ limits }) => limits.totalMilliseconds)
    expect(first).toBe(SUBMIT_LIMITS.totalMilliseconds)
    expect(second).toBeLessThan(first)
  })

  it('that took all its time to be refused is not sent again, nor is a key looked for longer than that', async () => {
    const limits = { ...SUBMIT_LIMITS, totalMilliseconds: 0 }
    const asked: number[] = []
    const call = createAccountCaller('https://upstream.example', {
      credential: async () => 'old',
      renewedCredential: async (_, millisecondsMax) => {
        asked.push(millisecondsMax)
        return 'new'
      },
      http: { send: async () => answerOf(asked.length === 0 ? 401 : 200), close() {} },
    })
    expect(await call({ ...CALL, limits })).toEqual(answerOf(401))
    expect(asked[0]).toBeLessThanOrEqual(0)
  })

  it('is not repeated when the key is still the same, and the refusal is the reply', async () => {
    const { call, sent } = callerOf([answerOf(401)], null)
    expect(await call(CALL)).toEqual(answerOf(401))
    expect(sent).toHaveLength(1)
  })

  it('is sent twice at most, whatever the second reply is', async () => {
    const { call, sent } = callerOf([answerOf(401), answerOf(401)])
    expect(await call(CALL)).toEqual(answerOf(401))
    expect(sent).toHaveLength(2)
  })

  it.each<[string, WholeOutcome]>([
    ['acceptance', answerOf(200, { id: 'task' })],
    ['acceptance with words of a refusal beside the task', answerOf(200, { id: 'task', code: 'InvalidApiKey' })],
    ['refusal of the content', answerOf(403, { code: 'DataInspectionFailed' })],
    ['refusal of the request', answerOf(400, { code: 'InvalidParameter' })],
    ['empty account', answerOf(402)],
    ['rate limit', answerOf(429, { code: 'Throttling.RateQuota' })],
    ['rate limit in words of authentication', answerOf(429, { code: 'Authentication.RateQuota' })],
    ['408, after which the task may exist', answerOf(408, { code: 'AuthenticationTimeout' })],
    ['499, after which the task may exist', answerOf(499, { error: { type: 'authentication_error' } })],
    ['404', answerOf(404, { code: 'InvalidApiKey' })],
    ['fault', answerOf(500, { code: 'InvalidApiKey' })],
    ['answer that never came', { kind: 'no_response', reason: 'timeout' }],
    ['request that never left', { kind: 'not_sent', reason: 'ECONNREFUSED' }],
  ])('is never repeated after the %s, which is not about the key', async (_, answer) => {
    const { call, sent, refused } = callerOf([answer])
    expect(await call(CALL)).toEqual(answer)
    expect({ sent: sent.length, refused }).toEqual({ sent: 1, refused: [] })
  })
})
