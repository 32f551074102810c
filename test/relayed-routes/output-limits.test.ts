import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { requestBodySchema } from '../../lib/openapi/request-schemas.ts'
import { CHAT, chatAnswer, type RelayRig, sendJson, startRelayRig } from '../engines/relay-rig.ts'
import { BILLED, type RelayedRoute } from '../engines/relayed-samples.ts'

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

describe('the limits of every billed route', () => {
  /** What was locked for a request, and what its upstream got; neither for a refused one. */
  async function lock({ operation, reply }: RelayedRoute, body: object) {
    const { id, key } = await rig.tenant('100')
    rig.upstreams[0]?.answerWith((response) => sendJson(response, reply))
    const { statusCode } = await rig.send(body, { operation, key })
    const sent = statusCode === 200 ? (rig.upstreams[0]?.calls.at(-1)?.body ?? {}) : {}
    const limits = Object.entries(sent).flatMap(([name, value]) => (isOutputLimit(name) ? [Number(value)] : []))
    const locked = (await rig.rows(id)).find(({ kind }) => kind === 'reserve')?.amount ?? 0n
    return { statusCode, locked, limit: limits[0] }
  }

  const isOutputLimit = (name: string) => /^max_.*tokens$/.test(name)
  const knownBy = ({ input = '' }: RelayedRoute) => Object.keys(requestBodySchema(input).properties ?? {})
  const withOne = ({ body }: RelayedRoute, name: string, value: number) => {
    const others = Object.entries(body).filter(([each]) => !(isOutputLimit(each) && isOutputLimit(name)))
    return { ...Object.fromEntries(others), [name]: value }
  }
  const TOKEN_BILLED = BILLED.filter(({ kind }) => kind === 'chat')

  it.each(TOKEN_BILLED)('$operation: an upstream gets the limit that is locked, with the prompt', async (route) => {
    const { required } = requestBodySchema(route.input ?? '')
    const isRequired = (name: string) => Array.isArray(required) && required.includes(name)
    const asked = Object.entries(route.body).filter(([name]) => !isOutputLimit(name) || isRequired(name))
    const body = Object.fromEntries(asked)
    const { statusCode, locked, limit = 0 } = await lock(route, body)
    expect(statusCode).toBe(200)
    expect(limit).toBeGreaterThan(0)
    // At 1,000 microcredits a token of the prompt, of at most eight bytes each, and 2,000 a token of the output.
    const least = (JSON.stringify(body).length / 8) * 1_000 + limit * 2_000
    expect(Number(locked)).toBeGreaterThan(least)
  })

  it.each(TOKEN_BILLED)('$operation: a limit above that of the model reaches no upstream', async (route) => {
    for (const name of knownBy(route).filter(isOutputLimit)) {
      const { statusCode, limit = 0 } = await lock(route, withOne(route, name, 1001))
      expect([name, statusCode === 400 || limit === 1000]).toEqual([name, true])
    }
  })

  it.each(BILLED)('$operation: whatever may raise the price raises what is locked', async (route) => {
    for (const name of knownBy(route).filter((each) => each === 'n' || isOutputLimit(each))) {
      const [few, many] = name === 'n' ? [1, 2] : [20, 40]
      const { locked: less } = await lock(route, withOne(route, name, few))
      const { locked: more } = await lock(route, withOne(route, name, many))
      expect([name, less > 0n && more > less]).toEqual([name, true])
    }
  })
})

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
    expect(message).toMatch(/, but 0\.01 are available; no output tokens are affordable: make the prompt smaller$/)
    const several = await refusal({ ...BODY, n: 2 }, { credits: '0.01' })
    expect(several.message).toMatch(/: make the prompt smaller or request fewer completions$/)
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
