import { describe, expect, it } from 'vitest'
import { UpstreamFailedError } from '#core/errors.ts'
import { CallerChangedError } from '#lambdas/relay/relay-exchange.ts'
import { fakeExchange } from './fake-exchange.ts'
import { FakeResponse } from './fake-response.ts'

const CALLER = { tenantId: 'acme', keyId: 'key', keyDigest: 'digest', models: null, revision: 1 }

describe('RelayExchange', () => {
  it('reads a key again that was not read for this request, and once only', async () => {
    const exchange = fakeExchange()
    let reads = 0
    const read = async () => {
      reads += 1
      return CALLER
    }
    exchange.authenticated(CALLER, { read, isCurrent: false })
    await exchange.confirmCaller()
    await exchange.confirmCaller()
    expect(reads).toBe(1)
  })

  it('begins again for a key that has changed since it was read', async () => {
    const exchange = fakeExchange()
    const changed = { ...CALLER, revision: 2 }
    exchange.authenticated(CALLER, { read: async () => changed, isCurrent: false })
    await expect(exchange.confirmCaller()).rejects.toThrow(CallerChangedError)
  })

  it('tells one failure only, and that a billed request is not to be retried', () => {
    const response = new FakeResponse()
    const exchange = fakeExchange({ response })
    exchange.tellFailure(new UpstreamFailedError(), { isBilled: true })
    exchange.tellFailure(new Error('another'), { isBilled: false })
    expect(response.head).toMatchObject({ statusCode: 502, headers: { 'x-should-retry': 'false' } })
    expect(response.ends).toBe(1)
  })

  it('keeps the channel that served the request when a later one refuses a call', () => {
    const exchange = fakeExchange()
    exchange.noteReply({ channel: { id: 'a' }, status: 200, attempts: 1 } as never)
    exchange.noteReply({ channel: { id: 'b' }, status: 429, attempts: 1 } as never)
    expect([exchange.channelId, exchange.facts.channelId]).toEqual(['a', 'b'])
  })
})
