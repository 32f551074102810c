import OpenAI, { BadRequestError } from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FREE_MODEL, type RelayGateway, startRelayGateway } from './relay-gateway.ts'

const MODEL = 'chat-default'
const say = (content: string) => [{ role: 'user' as const, content }]
const CHAT = { model: MODEL, messages: say('[usage-details] What do you cost?'), max_tokens: 20 }
const ASKING = { stream: true, stream_options: { include_usage: true } } as const
const IMAGE = { model: 'image-v2', prompt: 'a city', n: 2, size: '256x256' } as const

let gateway: RelayGateway

beforeAll(async () => {
  gateway = await startRelayGateway()
})
afterAll(async () => {
  await gateway.stop()
})

type Shown = {
  /** `usage.cost` of the response, or of the last usage of a stream. */
  readonly cost: unknown
  /** The header `x-reelgate-cost`. */
  readonly header: string | null
}

type Responding<Data> = { withResponse(): Promise<{ readonly data: Data; readonly response: Response }> }

async function whole(request: Responding<{ readonly usage?: object | undefined }>): Promise<Shown> {
  const { data, response } = await request.withResponse()
  return { cost: Object(data.usage).cost, header: response.headers.get('x-reelgate-cost') }
}

async function streamed(request: Responding<AsyncIterable<{ readonly usage?: object | null }>>): Promise<Shown> {
  const { data, response } = await request.withResponse()
  let usage: object | undefined
  for await (const chunk of data) {
    usage = chunk.usage ?? usage
  }
  return { cost: Object(usage).cost, header: response.headers.get('x-reelgate-cost') }
}

/** Makes requests as a tenant of its own: what its client saw, and what its ledger and its counters say. */
async function spend(request: (client: OpenAI) => Promise<Shown>) {
  const { id, key } = await gateway.tenant('1')
  const client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const shown = await request(client)
  const settled = (await gateway.ledger(id)).find(({ kind }) => kind === 'settle')
  const { spent } = await gateway.balance(id)
  const usage: { readonly total: { readonly cost: string } } = await client.get('/usage')
  return { shown, settled: settled?.actual, spent, counted: usage.total.cost, channel: settled?.channel }
}

describe('what the official SDK reads of the cost', () => {
  it.each<[string, (client: OpenAI) => Promise<Shown>]>([
    ['a chat with cached input', (client) => whole(client.chat.completions.create(CHAT))],
    ['completions', (client) => whole(client.completions.create({ model: MODEL, prompt: ['One', 'Two'] }))],
    ['embeddings', (client) => whole(client.embeddings.create({ model: 'text-embedding-3-small', input: ['a', 'b'] }))],
  ])('of %s is the settlement, in the usage and in the header', async (_, request) => {
    const { shown, settled = '', spent, counted, channel } = await spend(request)
    expect(Number(settled)).toBeGreaterThan(0)
    expect(shown).toStrictEqual({ cost: Number(settled), header: settled })
    expect([spent, counted]).toStrictEqual([settled, settled])
    expect(channel).toEqual(expect.any(String))
  })

  it.each<[string, (client: OpenAI) => Promise<Shown>]>([
    ['a streamed chat', (client) => streamed(client.chat.completions.create({ ...CHAT, ...ASKING }))],
    [
      'a chat with a running total',
      (client) => streamed(client.chat.completions.create({ ...CHAT, messages: say('[usage-every] hi'), ...ASKING })),
    ],
    [
      'a chat whose usage comes with its finish reason',
      (client) => streamed(client.chat.completions.create({ ...CHAT, messages: say('[usage-finish] hi'), ...ASKING })),
    ],
    [
      'streamed completions',
      (client) => streamed(client.completions.create({ model: MODEL, prompt: ['One', 'Two'], ...ASKING })),
    ],
  ])('of %s is the settlement, in the usage that was asked for', async (_, request) => {
    const { shown, settled = '', spent, counted } = await spend(request)
    expect(Number(settled)).toBeGreaterThan(0)
    expect(shown).toStrictEqual({ cost: Number(settled), header: null })
    expect([spent, counted]).toStrictEqual([settled, settled])
  })

  it.each<[string, (client: OpenAI) => Promise<Shown>]>([
    ['a chat', (client) => streamed(client.chat.completions.create({ ...CHAT, stream: true }))],
    [
      'a chat with a running total',
      (client) =>
        streamed(client.chat.completions.create({ ...CHAT, messages: say('[usage-every] hi'), stream: true })),
    ],
    ['completions', (client) => streamed(client.completions.create({ model: MODEL, prompt: 'One', stream: true }))],
  ])('is nothing in a stream of %s without stream_options, which is billed all the same', async (_, request) => {
    const { shown, settled, spent } = await spend(request)
    expect(shown).toStrictEqual({ cost: undefined, header: null })
    expect(Number(settled)).toBeGreaterThan(0)
    expect(spent).toBe(settled)
  })

  it.each<[string, (client: OpenAI) => Promise<Shown>]>([
    ['images', (client) => whole(client.images.generate(IMAGE))],
    [
      'a chat without a usage',
      (client) => whole(client.chat.completions.create({ ...CHAT, messages: say('[no-usage] hi') })),
    ],
  ])('of %s is in the header alone', async (_, request) => {
    const { shown, settled = '' } = await spend(request)
    expect(Number(settled)).toBeGreaterThan(0)
    expect(shown).toStrictEqual({ cost: undefined, header: settled })
  })

  it('is nothing of a model without a price, and of a request that an upstream refuses', async () => {
    const free = await spend((client) => whole(client.chat.completions.create({ ...CHAT, model: FREE_MODEL })))
    expect(free).toMatchObject({ shown: { cost: undefined, header: null }, settled: undefined })
    const refused = await spend(async (client) => {
      const error = await client.chat.completions.create({ ...CHAT, messages: say('[error:400]') }).then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      return error instanceof BadRequestError
        ? { cost: undefined, header: error.headers.get('x-reelgate-cost') }
        : { cost: 'no error', header: null }
    })
    expect(refused).toMatchObject({ shown: { cost: undefined, header: null }, settled: undefined, spent: '0' })
  })
})
