import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import OpenAI, { APIError } from 'openai'
import { type Gateway, startGateway } from './start-gateway.ts'
import { eventually } from './video-client.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(async () => {
  await gateway.stop()
})

/** Its bound is 100 output tokens and a short prompt: far below a thousandth of a credit. */
const CHAT = { model: 'chat-default', messages: [{ role: 'user' as const, content: 'hi' }], max_tokens: 100 }
/** 0.7 credits. */
const VIDEO = { model: 'famB-1.1-t2v', prompt: 'a boat', duration: 5, resolution: '720P' }

const EMBEDDING = 'text-embedding-3-small'
const IMAGE = 'image-v2'

const admin = async (...command: string[]) => Object(await gateway.admin(...command))
/** A tenant with a key that may send as often as it likes. */
async function newTenant(budget = 'none') {
  const { id: tenant } = await admin(
    'tenant',
    'create',
    '--name',
    'Budgets',
    '--credits',
    '100',
    '--allow-duplicate-name',
  )
  const { id, key } = await admin('key', 'create', '--tenant', tenant, '--rate', 'none', '--budget', budget)
  return { tenant, id, key }
}
const openai = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
const chat = (apiKey: string) => openai(apiKey).chat.completions.create(CHAT)
const refusalOf = async (call: PromiseLike<unknown>): Promise<APIError> => {
  try {
    await call
  } catch (error) {
    if (error instanceof APIError) {
      return error
    }
    throw error
  }
  throw new TypeError('the request was answered')
}

describe('a budget over HTTP', () => {
  it('of a key stops chats with a 402 that the official SDK reads, and videos with theirs', async () => {
    const { id, key } = await newTenant('0.000001/month')
    const refused = await refusalOf(chat(key))
    expect(refused).toMatchObject({ status: 402, code: 'budget_exceeded', type: 'insufficient_quota', param: null })
    expect(refused.message).toMatch(
      /budget exceeded: 0\.\d+ credits are needed, but 0\.000001 are left in the monthly budget that this api key uses until \d{4}-\d\d-01T00:00:00Z/,
    )
    const video = await gateway.api.withKey(key).create(VIDEO)
    expect([video.status, video.json]).toEqual([
      402,
      {
        error: 'budget exceeded',
        details: [{ path: '', message: expect.stringMatching(/^0\.\d+ credits are needed, but 0\.000001 are left/) }],
      },
    ])
    await admin('key', 'set', '--key', id, '--budget', '1/month')
    expect((await chat(key)).choices).toHaveLength(1)
    await admin('key', 'set', '--key', id, '--budget', 'none')
    expect((await chat(key)).choices).toHaveLength(1)
  })

  it('of a key stops embeddings and images too, and says what would fit', async () => {
    const { key } = await newTenant('0.000001/day')
    const sdk = openai(key)
    const embedding = await refusalOf(sdk.embeddings.create({ model: EMBEDDING, input: 'a long sentence '.repeat(50) }))
    const image = await refusalOf(sdk.images.generate({ model: IMAGE, prompt: 'a boat', n: 1 }))
    for (const refused of [embedding, image]) {
      expect(refused).toMatchObject({ status: 402, code: 'budget_exceeded', type: 'insufficient_quota', param: null })
      expect(refused.message).toMatch(/are left in the daily budget that this api key uses until \S+T00:00:00Z/)
    }
  })

  it('is shown to its client, and is free again after a job that failed', async () => {
    const { key } = await newTenant('1/month')
    const api = gateway.api.withKey(key)
    const shown = async () => Object((await api.send('GET', '/v1/balance')).json.key).budget
    const { json } = await api.create({ ...VIDEO, prompt: 'a boat [fail]' })
    expect(await shown()).toMatchObject({ amount: '1', period: 'month', spent: '0', held: '0.7' })
    expect((await api.create(VIDEO)).status).toBe(402)
    await api.until(String(json.id), 'failed')
    expect(await shown()).toMatchObject({ spent: '0', held: '0', resets_at: expect.any(Number) })
    expect((await api.create(VIDEO)).status).toBe(201)
  })

  it('of a tenant counts chats and videos of all its keys, and what a client spent is what the budget says', async () => {
    const { tenant, key } = await newTenant()
    const { key: other } = await admin('key', 'create', '--tenant', tenant, '--rate', 'none')
    await chat(key)
    await chat(other)
    const { spent } = await eventually(
      () => admin('tenant', 'show', '--tenant', tenant),
      ({ held }) => held === '0',
    )
    const { budget } = await admin('tenant', 'budget', '--tenant', tenant, '--amount', '0.71', '--period', 'total')
    expect(budget).toMatchObject({ spent, held: '0', resets_at: null })
    expect((await gateway.api.withKey(key).create(VIDEO)).status).toBe(201)
    const refused = await gateway.api.withKey(other).create(VIDEO)
    expect([refused.status, refused.json.error]).toEqual([402, 'budget exceeded'])
    await admin('tenant', 'budget', '--tenant', tenant, '--clear')
    expect((await chat(other)).choices).toHaveLength(1)
  })

  it('lets exactly those of a hundred parallel chats through for which it has room', async () => {
    const { id, key } = await newTenant('0.000001/total')
    // The upstream holds its replies back, so that nothing is given back while the others reserve.
    const slow = { ...CHAT, messages: [{ role: 'user' as const, content: '[slow:5] hi' }] }
    const { message } = await refusalOf(openai(key).chat.completions.create(slow))
    const needed = Number(/([\d.]+) credits are needed/.exec(message)?.[1])
    await admin('key', 'set', '--key', id, '--budget', `${(needed * 64).toFixed(6)}/total`)
    const calls = Array.from({ length: 100 }, () => openai(key).chat.completions.create(slow))
    const outcomes = await Promise.allSettled(calls)
    const codes = outcomes.flatMap((each) => (each.status === 'rejected' ? [(each.reason as APIError).code] : []))
    expect([100 - codes.length, new Set(codes)]).toEqual([64, new Set(['budget_exceeded'])])
  })
})
