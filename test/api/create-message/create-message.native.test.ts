import type { MessageCreateParamsBase } from '@anthropic-ai/sdk/resources/beta/messages/messages'
import { describe, expect, it } from '@jest/globals'
import { CHAT, openStream, sendJson, startRelayRig } from '../../engines/relay-rig.ts'
import { useOpened } from '../../engines/use-opened.ts'

const rig = useOpened(() => startRelayRig({ channels: 2, channel: { apis: { messages: { path: '/messages' } } } }))

const BODY = { model: CHAT, max_tokens: 10, messages: [{ role: 'user', content: 'Say hi' }] }
const USAGE = { input_tokens: 15, cache_creation_input_tokens: 0, cache_read_input_tokens: 5, output_tokens: 3 }

const message = (fields: object = {}) => ({
  id: 'msg_up',
  type: 'message',
  role: 'assistant',
  model: 'upstream-chat',
  content: [{ type: 'text', text: 'Hi there' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: USAGE,
  ...fields,
})

const event = (type: string, fields: object = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`

const START = event('message_start', {
  message: message({ content: [], stop_reason: null, usage: { ...USAGE, output_tokens: 1 } }),
})
const BLOCK = event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
const delta = (text: string) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })
const END = [
  event('content_block_stop', { index: 0 }),
  event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 3 } }),
  event('message_stop'),
].join('')

function upstream(index = 0) {
  const found = rig.upstreams[index]
  if (found === undefined) {
    throw new TypeError('there is no upstream')
  }
  return found
}

const create = (body: object, call: object = {}) => rig.send(body, { operation: 'create-message', ...call })

const OVERLOADED = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }

describe('create-message on a channel with this API', () => {
  it('200: relays the message but for the model and the cost, with the ids of the request, and bills the cache apart', async () => {
    const { id, key } = await rig.tenant('1')
    upstream().answerWith((outgoing) => sendJson(outgoing, message()))
    const { statusCode, headers, text } = await create(BODY, { key })
    expect(statusCode).toBe(200)
    expect(JSON.parse(text)).toStrictEqual(message({ model: CHAT, usage: { ...USAGE, cost: 0.026 } }))
    expect(headers['request-id']).toBe(headers['x-request-id'])
    expect(await rig.balance(id)).toMatchObject({ spent: '0.026' })
    const [settled] = await rig.rows(id)
    expect(settled).toMatchObject({ operation: 'create-message', usage: { inputTokens: 15, cachedInputTokens: 5 } })
  })

  it('takes the key in x-api-key, and sends the channel’s in the same header, with the version and betas of the client', async () => {
    const { key } = await rig.tenant('1')
    upstream().answerWith((outgoing) => sendJson(outgoing, message()))
    const headers = { 'x-api-key': key, 'anthropic-version': '2026-10-21', 'anthropic-beta': 'a,context-1m-2025,b' }
    const { statusCode } = await create(BODY, { headers })
    expect(statusCode).toBe(200)
    expect(upstream().calls.at(-1)).toMatchObject({
      path: '/v1/messages',
      headers: { 'x-api-key': 'none', 'anthropic-version': '2026-10-21', 'anthropic-beta': 'a,b' },
    })
    expect(upstream().calls.at(-1)?.headers).not.toHaveProperty('authorization')
  })

  it('sends the default version for a client without one', async () => {
    upstream().answerWith((outgoing) => sendJson(outgoing, message()))
    await create(BODY)
    expect(upstream().calls.at(-1)?.headers['anthropic-version']).toBe('2023-06-01')
  })

  it('lowers max_tokens to the limit of the model', async () => {
    upstream().answerWith((outgoing) => sendJson(outgoing, message()))
    await create({ ...BODY, max_tokens: 32_000 })
    expect(upstream().calls.at(-1)?.body.max_tokens).toBe(1000)
  })

  it('streams events byte for byte but for the model, and the cost in the message_delta', async () => {
    const { id, key } = await rig.tenant('1')
    const events = [START, BLOCK, event('ping'), delta('Hi'), event('something_new', { x: 1 }), END].join('')
    upstream().answerWith((outgoing) => void openStream(outgoing).end(events))
    const { text } = await create({ ...BODY, stream: true }, { key, query: { beta: 'true' } })
    expect(text).toBe(
      events
        .replaceAll('upstream-chat', CHAT)
        .replace('"usage":{"output_tokens":3}', '"usage":{"output_tokens":3,"cost":0.026}'),
    )
    expect(await rig.balance(id)).toMatchObject({ spent: '0.026' })
  })

  it('goes to the next channel when the stream reports an error before its first output', async () => {
    upstream(0).answerWith((outgoing) => void openStream(outgoing).end(START + BLOCK + event('error', OVERLOADED)))
    upstream(1).answerWith((outgoing) => void openStream(outgoing).end(START + BLOCK + delta('Hi') + END))
    const { text } = await create({ ...BODY, stream: true })
    expect(text).toContain('"text":"Hi"')
    expect(text).not.toContain('Overloaded')
  })

  it('ends a stream that breaks off with its error event, and bills what came', async () => {
    const { id, key } = await rig.tenant('1')
    upstream().answerWith(async (outgoing) => {
      openStream(outgoing).write(START + BLOCK + delta('x'.repeat(40)))
      await new Promise((resolve) => setTimeout(resolve, 20))
      outgoing.destroy()
    })
    const { text } = await create({ ...BODY, stream: true }, { key })
    expect(text).toMatch(/event: error\ndata: \{"type":"error","error":\{"type":"api_error","message":"[^"]+"\}\}\n\n$/)
    // 20 tokens of input, and 40 bytes of output at 4 bytes a token.
    expect(await rig.balance(id)).toMatchObject({ spent: '0.04' })
  })

  it('a stream without message_stop is broken, whatever else ends it', async () => {
    upstream().answerWith((outgoing) => void openStream(outgoing).end(`${START}${BLOCK}${delta('Hi')}data: [DONE]\n\n`))
    const { text } = await create({ ...BODY, stream: true })
    expect(text).toContain('event: error')
    expect(text).not.toContain('[DONE]')
  })

  it('sends a whole reply as events to a client that wants a stream', async () => {
    upstream().answerWith((outgoing) => sendJson(outgoing, message()))
    const { text } = await create({ ...BODY, stream: true })
    expect([...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type)).toStrictEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
  })

  it.each([
    [400, { ...BODY, messages: [] }, 'invalid_request_error', {}],
    [401, BODY, 'authentication_error', { key: 'wrong' }],
    [404, { ...BODY, model: 'nothing' }, 'not_found_error', {}],
  ])('%i: in the envelope of the API', async (status, body, type, call) => {
    const { statusCode, text, headers } = await create(body, call)
    expect({ statusCode, body: JSON.parse(text) }).toStrictEqual({
      statusCode: status,
      body: { type: 'error', error: { type, message: expect.any(String) } },
    })
    expect(headers).toHaveProperty('request-id')
  })

  it('402: billing_error', async () => {
    const { key } = await rig.tenant('0.000001')
    const { statusCode, text } = await create(BODY, { key })
    expect({ statusCode, text }).toMatchObject({ statusCode: 402, text: expect.stringContaining('billing_error') })
  })

  it('503: overloaded_error when every channel says 529', async () => {
    for (const each of rig.upstreams) {
      each.answerWith((outgoing) => sendJson(outgoing, OVERLOADED, 529))
    }
    const { statusCode, text } = await create(BODY)
    expect({ statusCode, text }).toMatchObject({ statusCode: 503, text: expect.stringContaining('overloaded_error') })
  })

  it.each([400, 413, 422])('an upstream’s %i keeps its status and its words', async (status) => {
    const body = {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'no such block' },
      request_id: 'req_up',
    }
    upstream().answerWith((outgoing) => sendJson(outgoing, body, status))
    const { statusCode, text } = await create(BODY)
    expect({ statusCode, body: JSON.parse(text) }).toStrictEqual({
      statusCode: status,
      body: { type: 'error', error: body.error },
    })
  })

  it.each(['web_fetch_20260101', 'code_execution_20250825', 'mcp_toolset'])(
    '400: a tool of the type %s',
    async (type) => {
      const tools = [
        { name: 'f', input_schema: { type: 'object' } },
        { type, name: 'hosted' },
      ]
      const { statusCode, text } = await create({ ...BODY, tools })
      expect({ statusCode, text }).toMatchObject({ statusCode: 400, text: expect.stringContaining(type) })
    },
  )
})

describe('create-message for an upstream that would bound no conversation', () => {
  it('400: a thread, which would go on with a conversation of any tenant, with the code by which SDKs go on without one', async () => {
    const thread = { type: 'continue', previous_message_id: 'msg_1' }
    const { statusCode, text } = await create({ ...BODY, thread })
    expect([statusCode, JSON.parse(text).error]).toMatchObject([
      400,
      { details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } },
    ])
  })

  it('400: a compaction, which is billed beyond the usage of the reply', async () => {
    const edits = [{ type: 'clear_thinking_20251015' }, { type: 'compact_20260112' }]
    const { statusCode, text } = await create({ ...BODY, context_management: { edits } })
    expect({ statusCode, text }).toMatchObject({
      statusCode: 400,
      text: expect.stringContaining('context_management.edits.1'),
    })
  })
})

/** Each field of the API as its SDK knows it: one that a later SDK adds does not compile until somebody has decided about it. */
const FIELDS = {
  ...{ model: 'passes', messages: 'passes', max_tokens: 'passes', stream: 'passes', system: 'passes' },
  ...{ tools: 'passes', tool_choice: 'passes', stop_sequences: 'passes', thinking: 'passes', metadata: 'passes' },
  ...{ cache_control: 'passes', context_management: 'passes', output_config: 'passes', output_format: 'passes' },
  ...{ service_tier: 'left out', speed: 'left out', inference_geo: 'left out', container: 'left out' },
  ...{ mcp_servers: 'left out', fallbacks: 'left out', fallback_credit_token: 'left out' },
  ...{ billing_policy: 'left out', diagnostics: 'left out' },
  ...{ thread: 'refused', compaction: 'refused' },
  ...{ betas: 'header', user_profile_id: 'header', workspace_id: 'header' },
} as const satisfies Record<keyof MessageCreateParamsBase, 'passes' | 'left out' | 'refused' | 'header'>

describe('a field of a message that costs more than tokens, or names what the upstream keeps', () => {
  const fieldsOf = (fate: string) => Object.entries(FIELDS).flatMap(([name, each]) => (each === fate ? [name] : []))

  it.each(fieldsOf('refused'))('is refused before anything is reserved: %s', async (name) => {
    const { id, key } = await rig.tenant('1')
    const { statusCode, text } = await create({ ...BODY, [name]: { type: 'create' } }, { key })
    expect({ statusCode, text }).toMatchObject({ statusCode: 400, text: expect.stringContaining(name) })
    expect(await rig.rows(id)).toEqual([])
  })

  it('is left out and named, unless the channel passes it', async () => {
    upstream().answerWith((outgoing) => sendJson(outgoing, message()))
    const gated = Object.fromEntries(fieldsOf('left out').map((name) => [name, 'any']))
    const { headers } = await create({ ...BODY, ...gated, metadata: { user_id: 'u' } })
    expect(upstream().calls.at(-1)?.body).toEqual({ ...BODY, model: 'upstream-chat', metadata: { user_id: 'u' } })
    expect(headers['x-reelgate-ignored']).toBe(Object.keys(gated).join(', '))
  })
})

describe('list-models for a client of this API', () => {
  it('200: one model has the fields of the Anthropic API too', async () => {
    const { key } = await rig.tenant('1')
    const asked = { operation: 'get-model', headers: { 'x-api-key': key }, pathParameters: { model: CHAT } } as const
    expect(JSON.parse((await rig.sendBuffered('', asked)).body)).toMatchObject({
      ...{ id: CHAT, object: 'model', type: 'model', display_name: CHAT, created_at: '2026-01-01T00:00:00.000Z' },
    })
  })

  it('200: also has the fields of the Anthropic API, for a key in x-api-key', async () => {
    const { key } = await rig.tenant('1')
    const { statusCode, body } = await rig.sendBuffered('', { operation: 'list-models', headers: { 'x-api-key': key } })
    expect({ statusCode, body: JSON.parse(body) }).toMatchObject({
      statusCode: 200,
      body: {
        object: 'list',
        has_more: false,
        first_id: CHAT,
        data: expect.arrayContaining([
          expect.objectContaining({
            id: CHAT,
            object: 'model',
            type: 'model',
            display_name: CHAT,
            created_at: '2026-01-01T00:00:00.000Z',
          }),
        ]),
      },
    })
  })
})
