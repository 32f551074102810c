import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { formatCredits } from '#core/money.ts'
import { writeTokenizerRanks } from '../../lib/config/tokenizer-ranks.ts'
import {
  CHAT,
  chatAnswer,
  chatEvent,
  DONE,
  FINISH,
  FREE,
  type RelayOperation,
  type RelayRig,
  sendJson,
  sendStream,
  startRelayRig,
  USAGE,
  USAGE_CHUNK,
  word,
} from '../engines/relay-rig.ts'

const BODY = { model: CHAT, messages: [{ role: 'user', content: 'hi' }], max_tokens: 10 }
const ASKING = { ...BODY, stream: true, stream_options: { include_usage: true } }
const EMBEDDING = 'text-embedding-3-small'
const directory = mkdtempSync(join(tmpdir(), 'reelgate-costs-'))

let rig: RelayRig

beforeAll(async () => {
  const file = join(directory, 'cl100k_base.json')
  writeTokenizerRanks(file)
  process.env.TOKENIZER_RANKS_FILE = file
  // Cached input at a tenth, a write at twice the price of input, 1,000 credits per million.
  const prices = { input: '1000', output: '2000', cached_input: '100', cache_write: '2000' }
  rig = await startRelayRig({ prices })
})
afterAll(async () => {
  await rig.close()
  rmSync(directory, { recursive: true })
})

/** What an upstream says of its own price, and of who served the request. */
const OWN = { cost: 0.5, cost_details: { upstream_inference_cost: 0.4 }, is_byok: false, cost_in_usd_ticks: 7 }

/** Sends a request of a tenant of its own: its response, and what its ledger says. */
async function send(body: object, operation: RelayOperation = 'create-chat-completion') {
  const { id, key } = await rig.tenant('100')
  const { statusCode, headers, text } = await rig.send(body, { key, operation })
  const [row] = await rig.rows(id)
  const settled = row?.kind === 'settle' ? formatCredits(row.actual ?? row.amount) : undefined
  return { statusCode, text, settled, header: headers['x-reelgate-cost'] }
}

/** The last usage of a stream. */
function usageOf(stream: string): Record<string, unknown> | undefined {
  const chunks = stream.split('\n\n').flatMap((event) => (event.startsWith('data: {') ? [event.slice(6)] : []))
  return chunks.map((data) => JSON.parse(data).usage).findLast((usage) => usage !== undefined && usage !== null)
}

describe('the cost of a chat', () => {
  it('is what is settled: in the usage, and in a header', async () => {
    rig.upstreams[0]?.answerWith((response) => sendJson(response, chatAnswer()))
    const { text, settled, header } = await send(BODY)
    expect([settled, header]).toStrictEqual(['0.015', '0.015'])
    expect(text).toBe(
      JSON.stringify(chatAnswer({ model: CHAT })).replace('"total_tokens":12', '"total_tokens":12,"cost":0.015'),
    )
  })

  it('is the price of each count: fresh, cached and written input, output', async () => {
    const usage = { ...USAGE, prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 2 } }
    rig.upstreams[0]?.answerWith((response) => sendJson(response, chatAnswer({ usage })))
    const { text, settled, header } = await send(BODY)
    expect([settled, header]).toStrictEqual(['0.0125', '0.0125'])
    expect(JSON.parse(text).usage).toStrictEqual({ ...usage, cost: 0.0125 })
  })

  it('is the bound of the model where the upstream reports more', async () => {
    const usage = { prompt_tokens: 1e9, completion_tokens: 1e9, total_tokens: 2e9 }
    rig.upstreams[0]?.answerWith((response) => sendJson(response, chatAnswer({ usage })))
    const { text, settled, header } = await send(BODY)
    expect(settled).toBe('10.192')
    expect([header, JSON.parse(text).usage.cost]).toStrictEqual(['10.192', 10.192])
  })

  it('is the estimate where the upstream reports no usage: in the header alone', async () => {
    rig.upstreams[0]?.answerWith((response) => sendJson(response, chatAnswer({ usage: undefined })))
    const { text, settled, header } = await send(BODY)
    expect(header).toBe(settled)
    expect(text).not.toContain('cost')
  })

  it('replaces what the upstream says of its own price', async () => {
    const reply = chatAnswer({ provider: 'upstream', usage: { ...OWN, ...USAGE } })
    rig.upstreams[0]?.answerWith((response) => sendJson(response, reply))
    const { text } = await send(BODY)
    expect(JSON.parse(text)).toStrictEqual({ ...chatAnswer({ model: CHAT }), usage: { ...USAGE, cost: 0.015 } })
  })

  it('is not there for a model without a price, and neither is the price of the upstream', async () => {
    const reply = chatAnswer({ provider: 'upstream', usage: { ...USAGE, ...OWN } })
    rig.upstreams[0]?.answerWith((response) => sendJson(response, reply))
    const { text, settled, header } = await send({ ...BODY, model: FREE })
    expect([settled, header]).toStrictEqual([undefined, undefined])
    expect(JSON.parse(text)).toStrictEqual(chatAnswer({ model: FREE }))
  })
})

describe('the cost of a stream', () => {
  it('stands in the usage chunk of a client that asked for it', async () => {
    rig.upstreams[0]?.answerWith((response) => sendStream(response, word('Hi'), FINISH, USAGE_CHUNK, DONE))
    const { text, settled, header } = await send(ASKING)
    expect([settled, header]).toStrictEqual(['0.015', undefined])
    expect(text).toBe(
      `${word('Hi')}${FINISH}${USAGE_CHUNK}${DONE}`
        .replaceAll('upstream-chat', CHAT)
        .replace('"total_tokens":12', '"total_tokens":12,"cost":0.015'),
    )
  })

  it('is not shown to a client that did not ask, not even in a running total', async () => {
    const total = chatEvent({ choices: [{ index: 0, delta: { content: 'a' } }], usage: { ...USAGE, ...OWN } })
    rig.upstreams[0]?.answerWith((response) => sendStream(response, total, FINISH, USAGE_CHUNK, DONE))
    const { text, settled } = await send({ ...BODY, stream: true })
    expect(settled).toBe('0.015')
    expect(text).not.toContain('cost')
    expect(usageOf(text)).toStrictEqual(USAGE)
  })

  it('is that of the counts beside it in each running total, and at last what is settled', async () => {
    const total = (completion_tokens: number) =>
      chatEvent({
        choices: [{ index: 0, delta: { content: 'a' }, finish_reason: completion_tokens === 3 ? 'stop' : null }],
        usage: { prompt_tokens: 9, completion_tokens },
      })
    rig.upstreams[0]?.answerWith((response) => sendStream(response, total(1), total(2), total(3), DONE))
    const { text, settled } = await send(ASKING)
    expect([...text.matchAll(/"cost":([\d.]+)/g)].map(([, cost]) => cost)).toStrictEqual(['0.011', '0.013', '0.015'])
    expect(settled).toBe('0.015')
  })

  it('stays what is settled when zeros come after it', async () => {
    const zeros = chatEvent({ choices: [], usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } })
    rig.upstreams[0]?.answerWith((response) => sendStream(response, word('Hi'), FINISH, USAGE_CHUNK, zeros, DONE))
    const { text, settled } = await send(ASKING)
    expect([usageOf(text)?.cost, settled]).toStrictEqual([0.015, '0.015'])
  })

  it('stands in the usage of a reply that the gateway makes a stream of', async () => {
    const reply = chatAnswer({ provider: 'upstream', usage: { ...USAGE, ...OWN } })
    rig.upstreams[0]?.answerWith((response) => sendJson(response, reply))
    const { text, settled, header } = await send(ASKING)
    expect(usageOf(text)).toStrictEqual({ ...USAGE, cost: 0.015 })
    expect([settled, header, text.includes('provider')]).toStrictEqual(['0.015', undefined, false])
  })

  it('is free of what the upstream says of itself in any of its events', async () => {
    const events = [word('Hi'), FINISH, chatEvent({ choices: [], usage: { ...OWN, ...USAGE } })]
    const said = events.map((event) => event.replace('"id":', '"provider":"upstream","id":'))
    rig.upstreams[0]?.answerWith((response) => sendStream(response, ...said, DONE))
    const { text } = await send(ASKING)
    expect(text).toBe(
      `${word('Hi')}${FINISH}${USAGE_CHUNK}${DONE}`
        .replaceAll('upstream-chat', CHAT)
        .replace('"total_tokens":12', '"total_tokens":12,"cost":0.015'),
    )
  })

  it('is free of that in an error too', async () => {
    const error = chatEvent({ provider: 'upstream', error: { message: 'no' }, usage: OWN })
    rig.upstreams[0]?.answerWith((response) => sendStream(response, word('Hi'), error))
    const { text } = await send(ASKING)
    expect(text).toContain('"error":{"message":"no"}')
    expect(text).not.toMatch(/provider|cost|byok/)
  })
})

describe('the cost of the other routes', () => {
  it('of a completion is that of the usage, summed over its prompts', async () => {
    rig.upstreams[0]?.answerWith((response) => sendJson(response, chatAnswer({ provider: 'upstream' })))
    const body = { model: CHAT, prompt: ['a', 'b'], max_tokens: 5 }
    const { text, settled, header } = await send(body, 'create-completion')
    expect([settled, header]).toStrictEqual(['0.03', '0.03'])
    expect(JSON.parse(text).usage).toStrictEqual({
      prompt_tokens: 18,
      completion_tokens: 6,
      total_tokens: 24,
      cost: 0.03,
    })
  })

  it.each([
    [true, { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12, cost: 0.015 }],
    [false, undefined],
  ])('of a streamed completion stands in its usage if the client asked for it (%s)', async (include_usage, usage) => {
    rig.upstreams[0]?.answerWith((response) => sendStream(response, word('Hi'), FINISH, USAGE_CHUNK, DONE))
    const body = { model: CHAT, prompt: 'a', max_tokens: 5, stream: true, stream_options: { include_usage } }
    const { text, settled, header } = await send(body, 'create-completion')
    expect([settled, header]).toStrictEqual(['0.015', undefined])
    expect(usageOf(text)).toStrictEqual(usage)
  })

  it('of a completion that an upstream refuses after its first prompt is in the header of the refusal', async () => {
    rig.upstreams[0]?.answerWith((response, { body }) => {
      const isFirst = JSON.stringify(body).includes('first')
      const refusal = { error: { message: 'no' }, provider: 'upstream' }
      return isFirst ? sendJson(response, chatAnswer()) : void setTimeout(() => sendJson(response, refusal, 400), 50)
    })
    const body = { model: CHAT, prompt: ['first', 'second'], max_tokens: 5 }
    const { statusCode, text, settled, header } = await send(body, 'create-completion')
    expect({ statusCode, text }).toStrictEqual({ statusCode: 400, text: '{"error":{"message":"no"}}' })
    expect([settled, header]).toStrictEqual(['0.015', '0.015'])
  })

  it('of embeddings is that of their tokens', async () => {
    const data = [{ object: 'embedding', index: 0, embedding: [1] }]
    const usage = { ...OWN, prompt_tokens: 5, total_tokens: 5 }
    rig.upstreams[0]?.answerWith((response) =>
      sendJson(response, { provider: 'upstream', object: 'list', data, model: 'up', usage }),
    )
    const { text, settled, header } = await send({ model: EMBEDDING, input: 'a' }, 'create-embedding')
    expect([settled, header]).toStrictEqual(['0.005', '0.005'])
    expect(text).toBe(
      JSON.stringify({
        object: 'list',
        data,
        model: EMBEDDING,
        usage: { prompt_tokens: 5, total_tokens: 5, cost: 0.005 },
      }),
    )
  })

  it.each([
    ['without a usage is in the header', {}, {}],
    [
      'with a usage is in both',
      { usage: { input_tokens: 9, output_tokens: 4096, cost: 0.4 } },
      { usage: { input_tokens: 9, output_tokens: 4096, cost: 0.02 } },
    ],
  ])('of images %s', async (_, members, shown) => {
    const data = [{ url: 'https://images.example.com/1.png' }]
    rig.upstreams[0]?.answerWith((response) => sendJson(response, { created: 1, data, ...members }))
    const body = { model: 'image-v2', prompt: 'a cat', n: 1, size: '1024x1024' }
    const { text, settled, header } = await send(body, 'create-image')
    expect(header).toBe(settled)
    expect(JSON.parse(text)).toStrictEqual({ created: 1, data, ...shown })
  })
})

describe('a request that is not billed', () => {
  it.each<[RelayOperation, object]>([
    ['create-chat-completion', BODY],
    ['create-completion', { model: CHAT, prompt: 'a' }],
    ['create-embedding', { model: EMBEDDING, input: 'a' }],
    ['create-image', { model: 'image-v2', prompt: 'a cat' }],
  ])('because the upstream refuses it shows no cost, and nothing of the upstream: %s', async (operation, body) => {
    const refusal = '{"provider":"upstream", "error":{"message":"no","cost":1},"usage":{"cost":0,"is_byok":false}}'
    rig.upstreams[0]?.answerWith((response) => sendJson(response, refusal, 400))
    const { statusCode, text, settled, header } = await send(body, operation)
    expect(statusCode).toBe(400)
    expect(text).toBe('{ "error":{"message":"no"}}')
    expect([settled, header]).toStrictEqual([undefined, undefined])
  })
})
