import { describe, expect, it, jest } from '@jest/globals'
import type { RelayResolution } from '#adapters/store/money/relay-reservation.ts'
import { microcredits } from '#core/money/money.ts'
import { type Charge, countedUsage } from '#core/quota/counted-usage.ts'
import { type Bill, billRequest } from '#lambdas/relay/bill-request.ts'
import type { RelayExchange } from '#lambdas/relay/relay-exchange.ts'
import { shippedCatalogue } from '../core/shipped-catalogue.ts'
import { fakeExchange } from './fake-exchange.ts'
import { fakeReply } from './fake-reply.ts'
import { relayChannel } from './relay-channel.ts'

const model = shippedCatalogue.findRelayModel('chat-default', { kind: 'chat', allowed: null })

const charge = (amount: number): Charge => ({
  amount: microcredits(amount),
  usage: countedUsage({ inputTokens: amount }),
})

/** Bills a request that fails as given, and tells what its client and its ledger heard. */
async function failing(run: (bill: Bill, exchange: RelayExchange) => void, estimate = charge(100)) {
  if (model === undefined) {
    throw new TypeError('there is no chat model')
  }
  const told: boolean[] = []
  const resolved: RelayResolution[] = []
  const exchange = fakeExchange({ operation: 'create-completion' })
  jest.spyOn(exchange, 'tellFailure').mockImplementation((_, { isBilled }) => void told.push(isBilled))
  const ledger = {
    reserve: async () => undefined,
    resolve: async (_: unknown, resolution: RelayResolution) => {
      resolved.push(resolution)
      return 'resolved' as const
    },
  }
  const context = { catalogue: shippedCatalogue, ledger, nowMilliseconds: () => 0 }
  const failed = billRequest(context, { exchange, model, estimate }, async (bill) => {
    run(bill, exchange)
    throw new TypeError('after all')
  })
  await expect(failed).rejects.toThrow('after all')
  return { told, resolved }
}

function noteReply(exchange: RelayExchange, channel: string, status: number): void {
  exchange.noteReply(fakeReply({ channel: relayChannel(channel), status }).reply)
}

describe('a settlement', () => {
  it('names the channel that served the request, also after a later call was refused', async () => {
    const { resolved } = await failing((bill, exchange) => {
      noteReply(exchange, 'main', 200)
      noteReply(exchange, 'spare', 404)
      bill.settle(charge(7))
    })
    expect(resolved).toMatchObject([{ kind: 'settle', channel: 'main' }])
  })

  it('names the last of several channels that served parts of the request', async () => {
    const { resolved } = await failing((bill, exchange) => {
      noteReply(exchange, 'main', 200)
      noteReply(exchange, 'spare', 200)
      bill.settle(charge(7))
    })
    expect(resolved).toMatchObject([{ kind: 'settle', channel: 'spare' }])
  })
})

describe('a request that fails', () => {
  it.each<[string, (bill: Bill) => void, number, boolean]>([
    ['its bill', (bill) => bill.settle(charge(7)), 7, false],
    ['an estimate', (bill) => bill.settleByEstimate(bill.estimate), 100, true],
  ])(
    'after %s was said is told as one that is billed, so that no SDK tries it again by itself',
    async (_, settle, billed, estimated) => {
      const { amount: actual, usage } = charge(billed)
      const resolved = [{ kind: 'settle', actual, estimated, usage }]
      expect(await failing(settle)).toStrictEqual({ told: [true], resolved })
    },
  )

  it('before anything was billed may be tried again', async () => {
    expect(await failing(() => undefined)).toStrictEqual({ told: [false], resolved: [{ kind: 'release' }] })
  })

  it('with a bill of nothing may be tried again', async () => {
    expect(await failing((bill) => bill.settle(charge(0)))).toMatchObject({ told: [false] })
  })

  it.each([0, 100])('knows while it runs whether it is billed (locked: %d)', async (estimate) => {
    const seen: boolean[] = []
    const settle = (bill: Bill) => {
      seen.push(bill.isBilled)
      bill.settle(charge(estimate))
      seen.push(bill.isBilled)
    }
    await failing(settle, charge(estimate))
    expect(seen).toStrictEqual([false, estimate > 0])
  })
})
