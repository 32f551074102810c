import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { CHAT, chatAnswer, type RelayRig, sendJson, startRelayRig } from '../engines/relay-rig.ts'

const BODY = { model: CHAT, messages: [{ role: 'user', content: 'Say hi' }] }
const LIMITS = ['max_tokens', 'max_completion_tokens']

/** A model with a default of 20 output tokens, on two channels: one takes the newer name, the other takes the older one. */
let rig: RelayRig

beforeAll(async () => {
  const names = ['max_completion_tokens', 'max_tokens']
  rig = await startRelayRig({
    channels: 2,
    channel: (index) => ({ output_limit_member: names[index] }),
    chat: { default_max_output_tokens: 20 },
  })
})
afterAll(async () => {
  await rig.close()
})

function answer(index: number, status = 200): void {
  rig.upstreams[index]?.answerWith((response) =>
    sendJson(response, status === 200 ? chatAnswer() : { error: {} }, status),
  )
}

/** The limits that an upstream got last. */
function limitsAt(index: number): object {
  const body = rig.upstreams[index]?.calls.at(-1)?.body ?? {}
  return Object.fromEntries(Object.entries(body).filter(([name]) => LIMITS.includes(name)))
}

describe('a model with a default output limit', () => {
  it('locks that limit where the client said none, and sends it under the name of each channel', async () => {
    const { id, key } = await rig.tenant('1')
    answer(0, 500)
    answer(1)
    const { statusCode } = await rig.send(BODY, { key })
    expect(statusCode).toBe(200)
    expect(limitsAt(0)).toStrictEqual({ max_completion_tokens: 20 })
    expect(limitsAt(1)).toStrictEqual({ max_tokens: 20 })
    const locked = BigInt(JSON.stringify(BODY).length * 1_000 + 20 * 2_000)
    expect((await rig.rows(id)).find(({ kind }) => kind === 'reserve')).toMatchObject({ amount: locked })
  })

  it('obeys a client that says more or less, under either name', async () => {
    answer(0, 500)
    answer(1)
    for (const written of LIMITS) {
      const { id, key } = await rig.tenant('5')
      const body = { ...BODY, [written]: 1000 }
      expect((await rig.send(body, { key })).statusCode).toBe(200)
      expect(limitsAt(0)).toStrictEqual({ max_completion_tokens: 1000 })
      expect(limitsAt(1)).toStrictEqual({ max_tokens: 1000 })
      const locked = BigInt(JSON.stringify(body).length * 1_000 + 1_000 * 2_000)
      expect((await rig.rows(id)).find(({ kind }) => kind === 'reserve')).toMatchObject({ amount: locked })
    }
  })

  it('leaves legacy completions their own default of 16, under the name of the channel', async () => {
    answer(0)
    expect((await rig.send({ model: CHAT, prompt: 'Once' }, { operation: 'create-completion' })).statusCode).toBe(200)
    expect(limitsAt(0)).toStrictEqual({ max_completion_tokens: 16 })
  })

  it('lets a tenant with little left chat, whom the longest reply of the model would have refused', async () => {
    const { key } = await rig.tenant('0.15')
    answer(0)
    expect((await rig.send(BODY, { key })).statusCode).toBe(200)
  })
})

describe('a 402 says what the request needs, what the balance holds and which limit would fit', () => {
  async function refusal(body: object, { credits, operation }: { credits: string; operation?: Operation }) {
    const { id, key } = await rig.tenant(credits)
    const call = operation === undefined ? { key } : { key, operation }
    const { statusCode, text } = await rig.send(body, call)
    expect(statusCode).toBe(402)
    const { error } = JSON.parse(text)
    expect(error).toStrictEqual({
      message: expect.any(String),
      type: 'insufficient_quota',
      param: null,
      code: 'insufficient_quota',
    })
    expect(await rig.balance(id)).toStrictEqual({ available: credits, held: '0', spent: '0' })
    return { key, message: String(error.message) }
  }

  it.each(LIMITS)('of a chat: the %s that the balance covers, to the last token', async (name) => {
    answer(0)
    const body = { ...BODY, n: 2, [name]: 1000 }
    const { key, message } = await refusal(body, { credits: '0.5' })
    const needed = (JSON.stringify(body).length * 1_000 + 2 * 1_000 * 2_000) / 1_000_000
    const [, advised = ''] = new RegExp(`set ${name} to at most (\\d+)$`).exec(message) ?? []
    expect(message).toBe(
      `insufficient quota for this request: ${needed} credits are needed, but 0.5 are available; set ${name} to at most ${advised}`,
    )
    expect((await rig.send({ ...body, [name]: Number(advised) + 2 }, { key })).statusCode).toBe(402)
    expect((await rig.send({ ...body, [name]: Number(advised) }, { key })).statusCode).toBe(200)
  })

  it.each([
    ['max_tokens', 'max_completion_tokens'],
    ['max_completion_tokens', 'max_tokens'],
  ])('of a chat with two limits: the larger one, %s', async (larger, smaller) => {
    answer(0)
    const body = { ...BODY, [larger]: 1000, [smaller]: 5 }
    const { key, message } = await refusal(body, { credits: '0.5' })
    const advised = Number(new RegExp(`set ${larger} to at most (\\d+)$`).exec(message)?.[1])
    expect(advised).toBeGreaterThan(5)
    expect((await rig.send({ ...body, [larger]: advised }, { key })).statusCode).toBe(200)
  })

  it('of a chat without a limit: a limit that fits although it makes the body longer', async () => {
    answer(0)
    const body = { ...BODY, n: 100 }
    const { key, message } = await refusal(body, { credits: '1' })
    const advised = Number(/set max_tokens to at most (\d+)$/.exec(message)?.[1])
    expect((await rig.send({ ...body, max_tokens: advised }, { key })).statusCode).toBe(200)
  })

  it('of a chat whose prompt alone is too dear: no limit', async () => {
    const { message } = await refusal(BODY, { credits: '0.01' })
    expect(message).toMatch(
      /, but 0\.01 are available; no output tokens are affordable: shorten the prompt or request fewer completions$/,
    )
  })

  it('of completions: the max_tokens that all of them can have', async () => {
    const operation = 'create-completion'
    const body = { model: CHAT, prompt: ['One', 'Two'], max_tokens: 1000 }
    answer(0)
    const { key, message } = await refusal(body, { credits: '0.6', operation })
    const advised = Number(/set max_tokens to at most (\d+)$/.exec(message)?.[1])
    expect((await rig.send({ ...body, max_tokens: advised + 2 }, { key, operation })).statusCode).toBe(402)
    expect((await rig.send({ ...body, max_tokens: advised }, { key, operation })).statusCode).toBe(200)
  })

  it('of images: how many', async () => {
    const body = { model: 'image-v2', prompt: 'a fox', n: 10 }
    const { message } = await refusal(body, { credits: '0.07', operation: 'create-image' })
    expect(message).toBe(
      'insufficient quota for this request: 0.2 credits are needed, but 0.07 are available; set n to at most 3',
    )
    expect((await refusal(body, { credits: '0.01', operation: 'create-image' })).message).toMatch(
      /0\.01 are available$/,
    )
  })

  it('of embeddings: shorter inputs', async () => {
    const body = { model: 'text-embedding-3-small', input: 'a'.repeat(100) }
    const { message } = await refusal(body, { credits: '0.01', operation: 'create-embedding' })
    expect(message).toMatch(/0\.1 credits are needed, but 0\.01 are available; send fewer or shorter inputs$/)
  })

  it('to each of many at once, whom one transaction refuses', async () => {
    const { key } = await rig.tenant('0.3')
    answer(0)
    const bodies = Array.from({ length: 12 }, (_, index) => ({ ...BODY, max_tokens: 900, user: `u${index}` }))
    const answers = await Promise.all(bodies.map((body) => rig.send(body, { key })))
    for (const { statusCode, text } of answers) {
      expect(statusCode).toBe(402)
      expect(JSON.parse(text).error.message).toMatch(/, but 0\.3 are available; set max_tokens to at most \d+$/)
    }
  })
})

type Operation = 'create-completion' | 'create-embedding' | 'create-image'
