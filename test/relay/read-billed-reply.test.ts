import { describe, expect, it } from 'vitest'
import { microcredits } from '#core/money/money.ts'
import { type Charge, countedUsage } from '#core/quota/counted-usage.ts'
import type { LargeReply } from '#lambdas/relay/large-reply.ts'
import { readBilledReply } from '#lambdas/relay/read-billed-reply.ts'
import { rulesOf } from '../core/relay/reply-rules.ts'
import { captureTelemetry } from '../engines/counted-facts.ts'
import { fakeReply } from './fake-reply.ts'
import { FakeResponse } from './fake-response.ts'

captureTelemetry()

const SMALL = '{"a":1}'
const LARGE = ['{"choices":[{}]', ',"usage":{"total_tokens":3}}']

function start({ passes = true }: { readonly passes?: boolean } = {}) {
  const upstream = fakeReply()
  const response = new FakeResponse()
  const large: LargeReply[] = []
  const estimates: bigint[] = []
  const bill = {
    estimate: { amount: microcredits(100), usage: countedUsage({}) },
    isBilled: false,
    cost: undefined,
    settle: () => undefined,
    settleByEstimate: ({ amount }: Charge) => void estimates.push(amount),
  }
  const read = () =>
    readBilledReply(upstream.reply, {
      response,
      bill,
      form: { ...rulesOf('chat'), list: 'choices' },
      passes,
      bytesMax: 10,
      settleLarge: (each) => void large.push(each),
    })
  return { ...upstream, response, large, estimates, read }
}

describe('readBilledReply', () => {
  it('returns a reply that can be held, unsent and unbilled', async () => {
    const { body, response, large, estimates, read } = start()
    body.end(SMALL)
    expect((await read())?.toString()).toBe(SMALL)
    expect([response.isOpen, large, estimates]).toEqual([false, [], []])
  })

  it('relays and bills a larger reply', async () => {
    const { body, response, large, told, read } = start()
    body.end(...LARGE)
    expect(await read()).toBeUndefined()
    expect(response.text).toBe(LARGE.join(''))
    expect(large).toMatchObject([{ end: 'whole', entries: 1, usage: { total_tokens: 3 } }])
    expect(told).toEqual([])
  })

  it('bills a larger reply that cannot pass through, and sends nothing of it', async () => {
    const { body, response, large, read } = start({ passes: false })
    body.end(...LARGE)
    await expect(read()).rejects.toMatchObject({ reply: { end: 'cut' } })
    expect(large).toMatchObject([{ end: 'cut', usage: { total_tokens: 3 } }])
    expect(response.isOpen).toBe(false)
  })

  it('bills a larger reply that breaks off for what came, and blames the channel', async () => {
    const { body, large, told, read } = start()
    body.write(LARGE[0] ?? '')
    body.breakOff()
    await read()
    expect(large).toMatchObject([{ end: 'broken', entries: 1 }])
    expect(told).toEqual(['failed'])
  })

  it('bills nothing for a larger reply without any entry, and blames the channel', async () => {
    const { body, large, told, read } = start()
    body.end('{"choices":', '[]}')
    await read()
    expect([large, told]).toEqual([[], ['failed']])
  })

  it('bills the estimate when the client left and the reply does not become whole', async () => {
    const { body, response, estimates, read } = start()
    response.leaving.abort()
    body.breakOff()
    await expect(read()).rejects.toMatchObject({ name: 'UpstreamFailedError' })
    expect(estimates).toEqual([100n])
  })

  it('bills nothing for a reply that breaks off while the client waits', async () => {
    const { body, estimates, read } = start()
    body.breakOff()
    await expect(read()).rejects.toMatchObject({ name: 'UpstreamFailedError' })
    expect(estimates).toEqual([])
  })
})
