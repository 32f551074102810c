import { describe, expect, it, jest } from '@jest/globals'
import { BudgetExceededError } from '#core/budgets.ts'
import { InsufficientQuotaError, ServiceUnavailableError } from '#core/errors.ts'
import { type Microcredits, microcredits } from '#core/money.ts'
import { type Charge, countedUsage } from '#core/pricing/usage.ts'
import { type Bill, billRequest } from '#lambdas/relay/bill-request.ts'
import type { RelayExchange } from '#lambdas/relay/relay-exchange.ts'
import type { RelayResolution } from '#store/relay-ledger/relay-reservation.ts'
import { shippedCatalogue } from '../core/shipped-catalogue.ts'
import { fakeExchange } from './fake-exchange.ts'
import { fakeReply } from './fake-reply.ts'
import { relayChannel } from './relay-channel.ts'

const model = requireModel(shippedCatalogue.findRelayModel('chat-default', { kind: 'chat', allowed: null }))

function requireModel<Model>(found: Model | undefined): Model {
  if (found === undefined) {
    throw new TypeError('there is no chat model')
  }
  return found
}

const charge = (amount: number): Charge => ({
  amount: microcredits(amount),
  usage: countedUsage({ inputTokens: amount }),
})

const priced = (amount: number) => ({ charge: charge(amount), isEstimated: false })

/** Bills a request that fails as given, and tells what its client and its ledger heard. */
async function failing(run: (bill: Bill, exchange: RelayExchange) => void, estimate = charge(100)) {
  const told: boolean[] = []
  const resolved: RelayResolution[] = []
  const outcomes: RelayResolution['outcome'][] = []
  const exchange = fakeExchange({ operation: 'create-completion' })
  jest.spyOn(exchange, 'tellFailure').mockImplementation((_, { isBilled }) => void told.push(isBilled))
  const ledger = {
    reserve: async () => undefined,
    resolve: async (_: unknown, { outcome, ...resolution }: RelayResolution) => {
      resolved.push(resolution)
      outcomes.push(outcome)
      return 'resolved' as const
    },
  }
  const context = { catalogue: shippedCatalogue, ledger, nowMilliseconds: () => 0 }
  const failed = billRequest(
    context,
    { exchange, request: { model, billing: { advise: () => undefined } }, estimate },
    async (bill) => {
      run(bill, exchange)
      throw new TypeError('after all')
    },
  )
  await expect(failed).rejects.toThrow('after all')
  return { told, resolved, outcomes }
}

function noteReply(exchange: RelayExchange, channel: string, status: number): void {
  exchange.noteReply(fakeReply({ channel: relayChannel(channel), status }).reply)
}

describe('billRequest: a settlement', () => {
  it('names the channel that served the request, also after a later call was refused', async () => {
    const { resolved } = await failing((bill, exchange) => {
      noteReply(exchange, 'main', 200)
      noteReply(exchange, 'spare', 404)
      bill.settle(priced(7))
    })
    expect(resolved).toMatchObject([{ kind: 'settle', channel: 'main' }])
  })

  it('names the last of several channels that served parts of the request', async () => {
    const { resolved } = await failing((bill, exchange) => {
      noteReply(exchange, 'main', 200)
      noteReply(exchange, 'spare', 200)
      bill.settle(priced(7))
    })
    expect(resolved).toMatchObject([{ kind: 'settle', channel: 'spare' }])
  })
})

describe('billRequest: the billed credits of a request', () => {
  it.each<[string, () => Promise<'resolved' | 'already_resolved'>, number | undefined]>([
    ['are noted once the ledger has them', async () => 'resolved', 0.5],
    ['are not noted if another resolution came first', async () => 'already_resolved', undefined],
    ['are not noted if the ledger is out of reach', () => Promise.reject(new ServiceUnavailableError()), undefined],
  ])('%s', async (_, resolve, expected) => {
    const exchange = fakeExchange()
    const context = {
      catalogue: shippedCatalogue,
      ledger: { reserve: async () => undefined, resolve },
      nowMilliseconds: () => 0,
    }
    const billed = { exchange, request: { model, billing: { advise: () => undefined } }, estimate: charge(500_000) }
    await billRequest(context, billed, async (bill) => bill.settle(priced(500_000)))
    expect(exchange.facts.billedCredits).toBe(expected)
  })
})

describe('billRequest: a refused reservation', () => {
  const period = { kind: 'day', id: '2026-11-22' } as const
  const asked: Microcredits[] = []
  const refused = async (error: Error) => {
    asked.length = 0
    const advise = (amount: Microcredits) => {
      asked.push(amount)
      return 'set n to at most 1'
    }
    const run = async () => undefined
    const ledger = { reserve: () => Promise.reject(error), resolve: async () => 'resolved' as const }
    const context = { catalogue: shippedCatalogue, ledger, nowMilliseconds: () => 0 }
    return await billRequest(
      context,
      { exchange: fakeExchange(), request: { model, billing: { advise } }, estimate: charge(100) },
      run,
    ).catch((thrown) => thrown)
  }
  const needed = microcredits(100)

  it.each([
    ['the balance', (left: Microcredits) => new InsufficientQuotaError('request', { needed, available: left })],
    ['a budget', (left: Microcredits) => new BudgetExceededError({ of: 'api key', needed, left, period })],
  ])('has advice for what %s has left, and none where nothing is left', async (_, errorFor) => {
    expect(await refused(errorFor(microcredits(7)))).toMatchObject({
      shortfall: { needed, advice: 'set n to at most 1' },
    })
    expect(asked).toStrictEqual([7n])
    expect((await refused(errorFor(microcredits(-7)))).shortfall.advice).toBeUndefined()
    expect(asked).toStrictEqual([])
  })

  it('of a budget that is gone from the table has no advice', async () => {
    expect((await refused(new BudgetExceededError())).shortfall).toBeUndefined()
  })
})

describe('billRequest: a request that fails', () => {
  it.each<[string, (bill: Bill) => void, number, boolean]>([
    ['its bill', (bill) => bill.settle(priced(7)), 7, false],
    ['an estimate', (bill) => bill.settle({ charge: bill.estimate, isEstimated: true }), 100, true],
  ])(
    'after %s was said is told as one that is billed, so that no SDK tries it again by itself',
    async (_, settle, billed, estimated) => {
      const { amount: actual, usage } = charge(billed)
      const resolved = [{ kind: 'settle', actual, estimated, usage }]
      expect(await failing(settle)).toMatchObject({ told: [true], resolved })
    },
  )

  it('before anything was billed may be tried again', async () => {
    expect(await failing(() => undefined)).toMatchObject({ told: [false], resolved: [{ kind: 'release' }] })
  })

  it('leaves its ledger row the channel that failed last and what that said', async () => {
    const { outcomes } = await failing((_, exchange) => {
      exchange.noteFailure({ reason: 'HTTP 500' }, { id: 'spare' })
      exchange.noteFailure({ reason: 'HTTP 401 invalid_api_key' }, { id: 'main' })
    })
    expect(outcomes).toMatchObject([{ failure: 'internal_error', channel: 'main', cause: 'HTTP 401 invalid_api_key' }])
  })

  it('with a bill of nothing may be tried again', async () => {
    expect(await failing((bill) => bill.settle(priced(0)))).toMatchObject({ told: [false] })
  })

  it.each([0, 100])('knows while it runs whether it is billed (locked: %d)', async (estimate) => {
    const seen: boolean[] = []
    const settle = (bill: Bill) => {
      seen.push(bill.isBilled)
      bill.settle(priced(estimate))
      seen.push(bill.isBilled)
    }
    await failing(settle, charge(estimate))
    expect(seen).toStrictEqual([false, estimate > 0])
  })
})
