import { describe, expect, it } from 'vitest'
import { InvalidRequestError } from '#core/errors.ts'
import { refuseIgnoredFields } from '#lambdas/relay/refuse-ignored-fields.ts'
import { handlingOf } from '#middleware/strict-handling.ts'
import { fakeExchange } from './fake-exchange.ts'

const PASS_MEMBERS = { chat: ['top_k'], embeddings: [], images: [] }
const KNOWN = { list: 'chat' as const, channels: [{ pass_members: PASS_MEMBERS }] }

function strictExchange(json: object, prefer: string) {
  const exchange = fakeExchange({ json, headers: { Prefer: prefer } })
  exchange.handled(handlingOf(exchange.request, exchange.operation))
  return exchange
}

describe('refuseIgnoredFields', () => {
  it('refuses a strict request for a field that a channel would ignore', () => {
    const exchange = strictExchange({ model: 'm', top_k: 1, durration: 5 }, 'handling=strict')
    expect(() => refuseIgnoredFields(exchange, KNOWN)).toThrow(InvalidRequestError)
  })

  it('accepts a strict request whose fields all pass', () => {
    const exchange = strictExchange({ model: 'm', top_k: 1 }, 'handling=strict')
    expect(() => refuseIgnoredFields(exchange, KNOWN)).not.toThrow()
  })

  it('accepts every field of a request that is not strict', () => {
    const exchange = strictExchange({ model: 'm', durration: 5 }, 'handling=lenient')
    expect(() => refuseIgnoredFields(exchange, KNOWN)).not.toThrow()
  })
})
