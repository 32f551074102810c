import { describe, expect, it } from 'vitest'
import { UpstreamFailedError } from '#core/errors.ts'
import { errorBody, useCalling } from './calling.ts'
import { httpAnswer, type RawRequest } from './raw-upstream.ts'

const { state, logged, counted, addChannel, call } = useCalling()

const REFUSED = httpAnswer(401, errorBody({ code: 'invalid_api_key' }))
const keyOf = ({ head }: RawRequest) => /^authorization: Bearer (.*)$/im.exec(head)?.[1]
/** An upstream that has replaced its key, as a provider's console does. */
const takesOnly = (key: string) => (request: RawRequest) =>
  void request.socket.write(keyOf(request) === key ? httpAnswer(200) : REFUSED)

describe('a key that the upstream refuses', () => {
  it('is replaced by the one in the secret, and the same channel answers the same request', async () => {
    const upstream = await addChannel('main', takesOnly('new'))
    await addChannel('spare', takesOnly('any'))
    state.renewedCredential = async (_, refused) => (refused === 'secret-key-of-main' ? 'new' : undefined)

    expect(await call()).toMatchObject({ status: 200, channel: { id: 'main' }, attempts: 1 })

    expect(upstream.requests.map(keyOf)).toEqual(['secret-key-of-main', 'new'])
    expect(new Set(upstream.requests.map(({ body }) => body)).size).toBe(1)
    expect({ logged, counted: counted() }).toEqual({ logged: [], counted: [] })
  })

  it('that was not replaced is told once, and the next channel answers', async () => {
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

  it.each([
    ['an empty account', httpAnswer(402, errorBody({ code: 'insufficient_balance' }))],
    ['a limit of the account', httpAnswer(400, errorBody({ code: 'billing_hard_limit_reached' }))],
    ['a rate limit', httpAnswer(429, errorBody({ code: 'rate_limit_exceeded' }))],
    ['a limit in words of authentication', httpAnswer(429, errorBody({ code: 'Authentication.RateQuota' }))],
    ['an upstream that gave up half-way', httpAnswer(499, errorBody({ code: 'invalid_api_key' }))],
    ['a fault of the upstream', httpAnswer(500, errorBody({ code: 'server_error' }))],
  ])('is not looked for after %s, which no key mends', async (_, answer) => {
    const upstream = await addChannel('main', ({ socket }) => void socket.write(answer))
    const asked: string[] = []
    state.renewedCredential = async (_channel, refused) => {
      asked.push(refused)
      return 'new'
    }

    await expect(call()).rejects.toBeInstanceOf(Error)

    expect({ asked, requests: upstream.requests.length }).toEqual({ asked: [], requests: 1 })
  })
})
