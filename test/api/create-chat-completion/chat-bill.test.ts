import { describe, expect, it } from 'vitest'
import { parseChatRequest } from '#core/contract/chat-request.ts'
import { microcredits } from '#core/money/money.ts'
import { type Charge, countedUsage } from '#core/quota/counted-usage.ts'
import { tokenCounts } from '#core/quota/token-counts.ts'
import { ChatBill } from '#lambdas/api/create-chat-completion/chat-bill.ts'
import type { LargeReply } from '#lambdas/relay/large-reply.ts'
import { shippedCatalogue } from '../../core/shipped-catalogue.ts'
import { captureTelemetry } from '../../engines/counted-facts.ts'
import { fakeExchange } from '../../relay/fake-exchange.ts'
import { relayChannel } from '../../relay/relay-channel.ts'

const BODY = { model: 'chat-default', messages: [{ role: 'user', content: 'hi' }], max_tokens: 10 }
const reply = { channel: relayChannel('main') }

/** A chat of 8,000 likely bytes, on a model of 0.15 and 0.60 credits per million tokens. */
function start(estimated = 100_000) {
  captureTelemetry()
  const chat = parseChatRequest(BODY, { catalogue: shippedCatalogue, allowedModels: null, bodyBytes: 8_000 })
  const settled: [string, bigint][] = []
  const estimate: Charge = { amount: microcredits(estimated), usage: countedUsage({ outputTokens: 9 }) }
  const bill = {
    estimate,
    isBilled: false,
    cost: undefined,
    settle: ({ amount }: Charge) => void settled.push(['usage', amount]),
    settleByEstimate: ({ amount }: Charge) => void settled.push(['estimate', amount]),
  }
  return { chatBill: new ChatBill({ exchange: fakeExchange({}), chat, bill }), settled }
}

const USAGE = tokenCounts({ input: 1_000, output: 1_000 })
const TOO_MUCH = tokenCounts({ input: 1e9, output: 1e9 })
const large = (members: Partial<LargeReply>): LargeReply => ({
  usage: undefined,
  entries: 1,
  bytes: 400,
  end: 'whole',
  ...members,
})

describe('the cost that a client sees', () => {
  it.each([USAGE, TOO_MUCH, tokenCounts({})])('of a usage is what that usage is billed: %j', (usage) => {
    const { chatBill, settled } = start()
    chatBill.settleByUsage(usage, reply)
    expect(settled).toStrictEqual([['usage', chatBill.costOf(usage)]])
  })

  it('of a whole reply without a usage is the estimate', () => {
    const { chatBill, settled } = start()
    chatBill.settleWhole(undefined, reply)
    expect(settled).toStrictEqual([['estimate', chatBill.costOfWhole(undefined)]])
    expect(chatBill.costOfWhole(USAGE)).toBe(750n)
  })

  it('is none where nothing is billed', () => {
    const { chatBill } = start(0)
    expect([chatBill.costOf(USAGE), chatBill.costOfWhole(undefined)]).toStrictEqual([undefined, undefined])
  })

  it.each([
    [{ usage: { prompt_tokens: 1_000, completion_tokens: 1_000 }, entries: 1 }, 750n],
    [{ usage: { prompt_tokens: 1_000, completion_tokens: 1_000 }, entries: 0 }, undefined],
    [{ usage: { prompt_tokens: 0, completion_tokens: 0 }, entries: 1 }, undefined],
    [{ usage: 'many', entries: 1 }, undefined],
  ])('of a large reply is known once something of it is billed: %j', (read, cost) => {
    expect(start().chatBill.costOfLarge(read)).toBe(cost)
  })
})

describe('the bill of a large reply', () => {
  it.each<[string, Partial<LargeReply>, [string, bigint]]>([
    ['is its usage', { usage: { prompt_tokens: 1_000, completion_tokens: 1_000 } }, ['usage', 750n]],
    ['is the estimate without a usage', {}, ['estimate', 100_000n]],
    ['is the estimate when it was cut', { end: 'cut' }, ['estimate', 100_000n]],
    ['is what came when it broke off', { end: 'broken' }, ['estimate', 360n]],
  ])('%s', (_, members, expected) => {
    const { chatBill, settled } = start()
    chatBill.settleLarge(large(members), reply)
    expect(settled).toStrictEqual([expected])
  })
})
