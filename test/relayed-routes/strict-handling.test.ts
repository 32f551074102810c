import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Operation } from '#routes/index.ts'
import {
  DONE,
  FINISH,
  type RelayRig,
  sendJson,
  sendStream,
  startRelayRig,
  USAGE_CHUNK,
  word,
} from '../engines/relay-rig.ts'
import { BILLED, errorIn, RELAYED, relayedRoute } from '../engines/relayed-samples.ts'

const STRICT = { Prefer: 'wait=5, handling=strict' }

/** Two channels of every model: one field passes to both, another one to the first only. */
let rig: RelayRig

beforeAll(async () => {
  const added = [{ chat: ['top_k', 'min_p'], embeddings: ['task'] }, { chat: ['top_k'] }]
  rig = await startRelayRig({ channels: 2, channel: (index) => ({ pass_members: added[index] }) })
})
afterAll(async () => {
  await rig.close()
})

type Sent = {
  readonly fields?: object
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
}

/** What one request gets, and what it leaves: its rows in the ledger and the calls of the upstreams. */
async function send(operation: Operation, { fields = {}, headers = STRICT, query }: Sent) {
  const { body, reply } = relayedRoute(operation)
  const { id, key } = await rig.tenant()
  for (const upstream of rig.upstreams) {
    upstream.answerWith((response) => sendJson(response, reply))
  }
  const before = rig.upstreams.map(({ calls }) => calls.length)
  const answer = await rig.send({ ...body, ...fields }, { operation, key, headers, ...(query && { query }) })
  const calls = rig.upstreams.reduce((sum, upstream, index) => sum + upstream.calls.length - (before[index] ?? 0), 0)
  return {
    ...answer,
    ...JSON.parse(answer.text),
    calls,
    rows: (await rig.rows(id)).length,
    balance: await rig.balance(id),
  }
}

const UNTOUCHED = { calls: 0, rows: 0, balance: { available: '1', held: '0', spent: '0' } }

describe('Prefer: handling=strict', () => {
  // A count that is free takes fields that it does not know, as an upstream of the same API does.
  it.each(BILLED)(
    '$operation 400: names every unknown field and query parameter, and spends nothing',
    async (route) => {
      const sent = { fields: { durration: 5, seconds: 1 }, query: { trace: '1' } }
      const message = expect.stringContaining('`durration`, `seconds`, `trace`')
      expect(await send(route.operation, sent)).toMatchObject({
        ...UNTOUCHED,
        statusCode: 400,
        headers: { 'preference-applied': 'handling=strict' },
        ...errorIn(route, { type: 'invalid_request_error', param: 'durration', message }),
      })
    },
  )

  it.each(RELAYED)('$operation 400: an unknown query parameter alone', async (route) => {
    expect(await send(route.operation, { query: { trace: '1' } })).toMatchObject({
      ...UNTOUCHED,
      statusCode: 400,
      ...errorIn(route, { param: 'trace', message: expect.stringContaining('`trace`') }),
    })
  })

  it.each(RELAYED)('$operation: a request that is known in every part is served, and told so', async (route) => {
    expect(await send(route.operation, {})).toMatchObject({
      statusCode: 200,
      calls: route.relays === true ? 1 : 0,
      headers: { 'preference-applied': 'handling=strict' },
    })
  })

  it('create-chat-completion 400: names inner fields that no upstream gets', async () => {
    const content = [{ type: 'text', text: 'x', cache_control: {} }]
    const fields = { messages: [{ role: 'user', content }], stream_options: { other: 1 } }
    expect(await send('create-chat-completion', { fields })).toMatchObject({
      ...UNTOUCHED,
      statusCode: 400,
      error: {
        param: 'messages.content.cache_control',
        message: expect.stringContaining('`stream_options.other`'),
      },
    })
  })

  it.each(['create-chat-completion', 'create-completion'] as const)(
    '%s: accepts a field that every channel of the model takes, and no field that only some of them take',
    async (operation) => {
      expect(await send(operation, { fields: { top_k: 4 } })).toMatchObject({ statusCode: 200, calls: 1 })
      expect(await send(operation, { fields: { top_k: 4, min_p: 0.1 } })).toMatchObject({
        ...UNTOUCHED,
        statusCode: 400,
        error: { param: 'min_p' },
      })
    },
  )

  it('create-response 400: names what a translation leaves out, at any depth', async () => {
    const input = [{ role: 'user', content: [{ type: 'input_text', text: 'x', cache_control: {} }] }]
    expect(await send('create-response', { fields: { store: true, input } })).toMatchObject({
      ...UNTOUCHED,
      statusCode: 400,
      error: { message: expect.stringContaining('`store`'), param: 'input.content.cache_control' },
    })
    expect(await send('create-response', { fields: { store: false } })).toMatchObject({ statusCode: 200 })
  })

  it('create-chat-completion 400: a stream is refused before its head', async () => {
    expect(await send('create-chat-completion', { fields: { stream: true, durration: 1 } })).toMatchObject({
      ...UNTOUCHED,
      statusCode: 400,
      headers: { 'content-type': 'application/json' },
    })
  })

  it.each(['handling=lenient', 'handling=lenient, handling=strict', 'respond-async'])(
    '%s is served, and names what was ignored',
    async (prefer) => {
      const sent = { fields: { durration: 5 }, query: { trace: '1' }, headers: { Prefer: prefer } }
      const { statusCode, headers } = await send('create-chat-completion', sent)
      expect({ statusCode, headers }).toMatchObject({
        statusCode: 200,
        headers: { 'x-reelgate-ignored': 'durration, trace' },
      })
      expect(headers).not.toHaveProperty('preference-applied')
    },
  )
})

describe('x-reelgate-ignored', () => {
  it('names query parameters at the head of a stream too', async () => {
    rig.upstreams[0]?.answerWith((response) => sendStream(response, word('Hi'), FINISH, USAGE_CHUNK, DONE))
    const body = { ...relayedRoute('create-chat-completion').body, stream: true, durration: 1 }
    const { headers, text } = await rig.send(body, { query: { 'a\r\nb': '1', ü: '2' } })
    expect(headers['x-reelgate-ignored']).toBe('durration, a%0D%0Ab, %C3%BC')
    expect(text).toContain('[DONE]')
  })

  it('names query parameters of a refused request', async () => {
    const { statusCode, headers } = await rig.send({ model: 'no-model', messages: [] }, { query: { trace: '1' } })
    expect({ statusCode, headers }).toMatchObject({ statusCode: 400, headers: { 'x-reelgate-ignored': 'trace' } })
  })
})
