import { describe, expect, it } from '@jest/globals'
import { UpstreamFailedError } from '#core/errors.ts'
import type { UpstreamError } from '#core/providers/reply-reading.ts'
import { judgeRefusal } from '#lambdas/relay/call-channel.ts'
import { errorBody, useCalling } from './calling.ts'
import { httpAnswer, type RawRequest } from './raw-upstream.ts'

describe('a key that the upstream refuses', () => {
  const { state, logged, counted, addChannel, call } = useCalling()

  const REFUSED = httpAnswer(401, errorBody({ code: 'invalid_api_key' }))
  const keyOf = ({ head }: RawRequest) => /^authorization: Bearer (.*)$/im.exec(head)?.[1]
  /** An upstream that has replaced its key, as a provider's console does. */
  const takesOnly = (key: string) => (request: RawRequest) =>
    void request.socket.write(keyOf(request) === key ? httpAnswer(200) : REFUSED)

  it('is replaced by the one in the secret, and the same channel serves the same request', async () => {
    const upstream = await addChannel('main', takesOnly('new'))
    await addChannel('spare', takesOnly('any'))
    state.renewedCredential = async (_, refused) => (refused === 'secret-key-of-main' ? 'new' : undefined)

    expect(await call()).toMatchObject({ status: 200, channel: { id: 'main' }, attempts: 1 })

    expect(upstream.requests.map(keyOf)).toEqual(['secret-key-of-main', 'new'])
    expect(new Set(upstream.requests.map(({ body }) => body)).size).toBe(1)
    expect({ logged, counted: counted() }).toEqual({ logged: [], counted: [] })
  })

  it('that was not replaced is told once, and the next channel serves the request', async () => {
    const upstream = await addChannel('main', takesOnly('new'))
    await addChannel('spare', takesOnly('secret-key-of-spare'))

    expect((await call()).channel.id).toBe('spare')

    expect(upstream.requests).toHaveLength(1)
    expect(logged).toMatchObject([['error', 'channel refused', { reason: 'HTTP 401 invalid_api_key' }]])
    expect(counted()).toEqual(['channel_refused'])
  })

  it('is replaced once: a new key that is refused too puts the channel out', async () => {
    const upstream = await addChannel('main', takesOnly('newest'))
    state.renewedCredential = async () => 'new'

    await expect(call()).rejects.toBeInstanceOf(UpstreamFailedError)

    expect(upstream.requests.map(keyOf)).toEqual(['secret-key-of-main', 'new'])
    expect(counted()).toEqual(['channel_refused'])
  })

  it('is hidden in the words of the upstream for the client, and so is the key that replaced it', async () => {
    await addChannel('main', takesOnly('new-secret-key'))
    state.renewedCredential = async () => 'new-secret-key'

    const { withoutCredentials } = await call()

    expect(withoutCredentials('secret-key-of-main, new-secret-key')).toBe('[redacted], [redacted]')
  })

  it('is hidden in the log, and so is the key that replaced it', async () => {
    await addChannel('main', (request) => {
      const code = keyOf(request) === 'new-secret-key' ? 'no-new-secret-key' : 'invalid_api_key'
      request.socket.write(httpAnswer(401, errorBody({ code })))
    })
    state.renewedCredential = async () => 'new-secret-key'

    await expect(call()).rejects.toBeInstanceOf(UpstreamFailedError)

    expect(logged).toMatchObject([['error', 'channel refused', { reason: 'HTTP 401 no-[redacted]' }]])
  })

  it.each([
    ['an empty account', httpAnswer(402, errorBody({ code: 'insufficient_balance' }))],
    ['a limit of the account', httpAnswer(400, errorBody({ code: 'billing_hard_limit_reached' }))],
    ['a rate limit', httpAnswer(429, errorBody({ code: 'rate_limit_exceeded' }))],
    ['a limit in words of authentication', httpAnswer(429, errorBody({ code: 'Authentication.RateQuota' }))],
    ['an upstream that gave up half-way', httpAnswer(499, errorBody({ code: 'invalid_api_key' }))],
    ['a fault of the upstream', httpAnswer(500, errorBody({ code: 'server_error' }))],
  ])('is not looked for after %s, which no key mends', async (_, answer) => {
    const upstream = await addChannel('main', ({ socket }) => void socket.write(answer))
    const asked: unknown[] = []
    state.renewedCredential = async (_channel, refused) => {
      asked.push(refused)
      return 'new'
    }

    await expect(call()).rejects.toBeInstanceOf(Error)

    expect({ asked, requests: upstream.requests.length }).toEqual({ asked: [], requests: 1 })
  })
})

const NO_WORDS = { code: undefined, type: undefined, message: undefined }

/** An answer with an error of this wire that has so many of its members. */
const withError = (status: number, error: Partial<UpstreamError> = {}) =>
  judgeRefusal({ status, error: { ...NO_WORDS, ...error }, hasError: true })

const withoutError = (status: number) => judgeRefusal({ status, error: NO_WORDS, hasError: false })

describe('judgeRefusal: a reply', () => {
  it.each([400, 409, 413, 415, 422])('of status %d is about the request, whatever its body is', (status) => {
    expect([withError(status), withoutError(status)]).toStrictEqual(['request', 'request'])
  })

  it.each([404, 405, 410])(
    'of status %d is about the request with an error, and else the channel’s fault',
    (status) => {
      expect([withError(status), withoutError(status)]).toStrictEqual(['request', 'failed'])
    },
  )

  it.each([
    406, 407, 408, 411, 412, 414, 416, 417, 418, 421, 423, 424, 425, 426, 428, 431, 451, 499, 300, 307, 500, 503,
  ])('of status %d is the channel’s fault, whatever its body is', (status) => {
    expect([withError(status), withoutError(status)]).toStrictEqual(['failed', 'failed'])
  })

  it.each([401, 402, 403])('of status %d is about the gateway’s key or account', (status) => {
    expect([withError(status), withoutError(status)]).toStrictEqual(['refused', 'refused'])
  })

  it.each([403, 451])('of status %d is about the request where its error names the content', (status) => {
    expect(withError(status, { code: 'content_policy_violation' })).toBe('request')
  })

  it.each([400, 404, 409, 422])('of status %d that names the account is about the account', (status) => {
    expect(withError(status, { code: 'billing_hard_limit_reached' })).toBe('refused')
    expect(withError(status, { type: 'insufficient_quota' })).toBe('refused')
  })

  it('of status 529 asks for patience, whatever its body is', () => {
    expect([withError(529), withoutError(529)]).toStrictEqual(['busy', 'busy'])
  })

  it('of status 429 asks for patience, unless the account is empty', () => {
    expect(withError(429)).toBe('busy')
    expect(withError(429, { code: 'insufficient_quota' })).toBe('refused')
    expect(withError(429, { message: 'insufficient balance' })).toBe('refused')
  })

  it('is not judged by words that may be the client’s', () => {
    expect(withError(400, { message: 'unknown value "insufficient balance"' })).toBe('request')
  })
})
