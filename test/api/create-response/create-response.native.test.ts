import { describe, expect, it } from '@jest/globals'
import type { ResponseCreateParamsBase } from 'openai/resources/responses/responses'
import { CHAT, openStream, sendJson, startRelayRig } from '../../engines/relay-rig.ts'
import { useOpened } from '../../engines/use-opened.ts'

const rig = useOpened(() =>
  startRelayRig({ channels: 2, channel: { apis: { responses: '/responses' } }, chat: { context_tokens: 100_000 } }),
)

const BODY = { model: CHAT, input: 'Say hi', max_output_tokens: 10 }
const USAGE = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 5 },
  output_tokens: 3,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 23,
}

const MESSAGE = {
  type: 'message',
  id: 'msg_1',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Hi there', annotations: [] }],
}

const response = (fields: object = {}) => ({
  id: 'resp_up',
  object: 'response',
  created_at: 1,
  status: 'completed',
  error: null,
  model: 'upstream-chat',
  output: [MESSAGE],
  unknown_field: { a: 1 },
  usage: USAGE,
  ...fields,
})

const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`

const CREATED = event('response.created', {
  sequence_number: 0,
  response: response({ status: 'in_progress', output: [], usage: null }),
})
const ADDED = event('response.output_item.added', {
  sequence_number: 1,
  output_index: 0,
  item: { ...MESSAGE, status: 'in_progress', content: [] },
})
const delta = (text: string, sequence_number = 2) =>
  event('response.output_text.delta', {
    sequence_number,
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    delta: text,
  })
const ODD = event('response.something.new', { sequence_number: 3, x: [1.0] })
const ITEM_DONE = event('response.output_item.done', { sequence_number: 4, output_index: 0, item: MESSAGE })
const COMPLETED = event('response.completed', { sequence_number: 5, response: response() })

function upstream(index = 0) {
  const found = rig.upstreams[index]
  if (found === undefined) {
    throw new TypeError('there is no upstream')
  }
  return found
}

const create = (body: object, call: object = {}) => rig.send(body, { operation: 'create-response', ...call })

const COST = 0.026
const sumOf = (text: string) => text.replaceAll('upstream-chat', CHAT)

/** Each field of the API as its SDK knows it: one that a later SDK adds does not compile until somebody has decided about it. */
const FIELDS = {
  ...{ model: 'passes', input: 'passes', instructions: 'passes', max_output_tokens: 'passes', stream: 'passes' },
  ...{ stream_options: 'passes', temperature: 'passes', top_p: 'passes', top_logprobs: 'passes', text: 'passes' },
  ...{ tools: 'passes', tool_choice: 'passes', parallel_tool_calls: 'passes', max_tool_calls: 'passes' },
  ...{ reasoning: 'passes', include: 'passes', truncation: 'passes', image: 'passes', context_management: 'passes' },
  ...{ prompt_cache_key: 'passes', prompt_cache_options: 'passes', prompt_cache_retention: 'passes' },
  ...{
    metadata: 'passes',
    user: 'passes',
    safety_identifier: 'passes',
    access_programs: 'passes',
    moderation: 'passes',
  },
  ...{ service_tier: 'left out', store: 'left out' },
  ...{ previous_response_id: 'stateful', conversation: 'stateful', prompt: 'stateful', background: 'stateful' },
} as const satisfies Record<keyof ResponseCreateParamsBase, 'passes' | 'left out' | 'stateful'>

const STATEFUL = Object.entries(FIELDS).flatMap(([name, fate]) => (fate === 'stateful' ? [name] : []))

describe('create-response on a channel with this API', () => {
  it('200: relays the response byte for byte but for the model and the cost, and bills its usage', async () => {
    const { id, key } = await rig.tenant('1')
    upstream().answerWith((outgoing) => sendJson(outgoing, response()))
    const { statusCode, headers, text } = await create(BODY, { key })
    expect(statusCode).toBe(200)
    expect(JSON.parse(text)).toStrictEqual(response({ model: CHAT, usage: { ...USAGE, cost: COST } }))
    expect(headers).toMatchObject({ 'x-reelgate-cost': String(COST) })
    expect(await rig.balance(id)).toStrictEqual({ available: '0.974', held: '0', spent: '0.026' })
  })

  it('sends the body as it came, with the model of the upstream and `store: false`', async () => {
    upstream().answerWith((outgoing) => sendJson(outgoing, response()))
    const body = '{ "input":"Grüße","store":true, "unknown":{"a":1.0}, "model":"chat-a","max_output_tokens":7 }'
    await rig.send(body, { operation: 'create-response' })
    expect(upstream().calls.at(-1)).toMatchObject({
      path: '/v1/responses',
      text: body.replace('chat-a', 'upstream-chat').replace('"store":true', '"store":false'),
    })
  })

  it('streams events byte for byte but for the model, inside of the events too, and the cost in the last one', async () => {
    const { id, key } = await rig.tenant('1')
    const events = [CREATED, ADDED, delta('Hi'), ODD, ITEM_DONE, COMPLETED]
    upstream().answerWith((outgoing) => void openStream(outgoing).end(events.join('')))
    const { statusCode, text } = await create({ ...BODY, stream: true }, { key })
    expect(statusCode).toBe(200)
    expect(text).toBe(sumOf(events.join('')).replace('"total_tokens":23', `"total_tokens":23,"cost":${COST}`))
    expect(await rig.balance(id)).toMatchObject({ spent: '0.026' })
  })

  it('goes to the next channel when the stream fails before its first output', async () => {
    const failed = event('response.failed', {
      sequence_number: 2,
      response: response({ status: 'failed', output: [], error: { code: 'server_error', message: 'no' }, usage: null }),
    })
    upstream(0).answerWith((outgoing) => void openStream(outgoing).end(CREATED + ADDED + failed))
    upstream(1).answerWith((outgoing) => void openStream(outgoing).end(CREATED + delta('Hi') + COMPLETED))
    const { text } = await create({ ...BODY, stream: true })
    expect(text).toContain('"delta":"Hi"')
    expect(text).not.toContain('response.failed')
    expect(text).not.toContain('response.output_item.added')
  })

  it('ends a stream that breaks off with `response.failed`, which has the id, the finished items and the next number', async () => {
    const { id, key } = await rig.tenant('1')
    upstream().answerWith(async (outgoing) => {
      openStream(outgoing).write(CREATED + delta('Hi') + ITEM_DONE)
      await new Promise((resolve) => setTimeout(resolve, 20))
      outgoing.destroy()
    })
    const { text } = await create({ ...BODY, stream: true }, { key })
    const last = JSON.parse(text.trimEnd().split('\n').at(-1)?.slice('data: '.length) ?? '')
    expect(last).toMatchObject({
      type: 'response.failed',
      sequence_number: 5,
      response: { id: 'resp_up', model: CHAT, status: 'failed', error: { code: 'server_error' }, output: [MESSAGE] },
    })
    expect((await rig.rows(id)).find(({ kind }) => kind === 'settle')).toMatchObject({ isEstimated: true })
  })

  it('relays `response.failed` after the first output, and bills its usage', async () => {
    const { id, key } = await rig.tenant('1')
    const error = { code: 'server_error', message: 'no', secret: 'upstream' }
    const failed = event('response.failed', { sequence_number: 3, response: response({ status: 'failed', error }) })
    upstream().answerWith((outgoing) => void openStream(outgoing).end(CREATED + delta('Hi') + failed))
    const { text } = await create({ ...BODY, stream: true }, { key })
    expect(text.match(/event: response.failed/g)).toHaveLength(1)
    expect(text).not.toContain('secret')
    expect(await rig.balance(id)).toMatchObject({ spent: '0.026' })
  })

  it('sends a whole reply as events to a client that wants a stream', async () => {
    upstream().answerWith((outgoing) => sendJson(outgoing, response()))
    const { text } = await create({ ...BODY, stream: true })
    const types = [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type)
    expect(types).toStrictEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    expect(text).toContain(`"cost":${COST}`)
  })

  it.each(STATEFUL)('400: names %s, which needs a state', async (name) => {
    const value = name === 'background' ? true : { id: 'kept_1' }
    const { statusCode, text } = await create({ ...BODY, [name]: value })
    expect({ statusCode, error: JSON.parse(text).error }).toMatchObject({ statusCode: 400, error: { param: name } })
    const { input: _left, ...without } = BODY
    expect(JSON.parse((await create({ ...without, [name]: value })).text).error.param).toBe(
      name === 'background' ? 'input' : name,
    )
  })

  it('400: a choice of a tool in the form of another API is told the form of this one', async () => {
    const tools = [{ type: 'function', name: 'f' }]
    const { statusCode, text } = await create({ ...BODY, tools, tool_choice: { type: 'auto' } })
    expect({ statusCode, error: JSON.parse(text).error }).toMatchObject({
      statusCode: 400,
      error: { param: 'tool_choice', message: expect.stringContaining('`tool_choice` must be "auto"') },
    })
  })

  it.each([
    ['context_management.0', { context_management: [{ type: 'compaction', compact_threshold: 1000 }] }],
    ['input.1', { input: [{ role: 'user', content: 'Hi' }, { type: 'compaction_trigger' }] }],
  ])('400: a compaction at %s, which is billed beyond the usage of the reply', async (param, fields) => {
    const { statusCode, text } = await create({ ...BODY, ...fields })
    expect({ statusCode, error: JSON.parse(text).error }).toMatchObject({ statusCode: 400, error: { param } })
  })

  it('names `store`, which is always false, where the client wants it to be true', async () => {
    upstream().answerWith((outgoing) => sendJson(outgoing, response()))
    expect((await create({ ...BODY, store: true })).headers).toMatchObject({ 'x-reelgate-ignored': 'store' })
    expect((await create({ ...BODY, store: false })).headers).not.toHaveProperty('x-reelgate-ignored')
    const { statusCode, text } = await create({ ...BODY, store: true }, { headers: { prefer: 'handling=strict' } })
    expect({ statusCode, error: JSON.parse(text).error }).toMatchObject({ statusCode: 400, error: { param: 'store' } })
  })

  it.each(['maxOutputTokens', 'Model', 'N'])(
    '400: names %s, which a lenient upstream takes for another field',
    async (name) => {
      const { statusCode, text } = await create({ ...BODY, [name]: 5 })
      expect({ statusCode, error: JSON.parse(text).error }).toMatchObject({ statusCode: 400, error: { param: name } })
    },
  )

  it('leaves out what costs more than tokens, and a web search beside other tools, and names them', async () => {
    upstream().answerWith((outgoing) => sendJson(outgoing, response()))
    const tools = [{ type: 'function', name: 'f', parameters: {} }, { type: 'web_search' }]
    const { headers } = await create({ ...BODY, service_tier: 'priority', n: 4, tools })
    expect(upstream().calls.at(-1)?.body).not.toHaveProperty('service_tier')
    expect(upstream().calls.at(-1)?.body).not.toHaveProperty('n')
    expect(upstream().calls.at(-1)?.body.tools).toStrictEqual([tools[0]])
    expect(headers).toMatchObject({ 'x-reelgate-ignored': 'service_tier, n, tools.web_search' })
  })

  it.each([
    ...['web_search', 'file_search', 'code_interpreter', 'mcp', 'computer_use_preview', 'image_generation'],
    ...['x_search', 'code_execution', 'openrouter:web_search'],
  ])('400: a tool of the type %s alone', async (type) => {
    const { statusCode, text } = await create({ ...BODY, tools: [{ type }] })
    expect({ statusCode, error: JSON.parse(text).error }).toMatchObject({
      statusCode: 400,
      error: { param: 'tools.0' },
    })
  })

  it('400: a tool of the upstream among those that a search of the client found', async () => {
    const found = {
      type: 'tool_search_output',
      call_id: 'c',
      tools: [{ type: 'mcp', server_url: 'https://a.example' }],
    }
    const { statusCode, text } = await create({ ...BODY, input: [found] })
    expect({ statusCode, error: JSON.parse(text).error }).toMatchObject({
      statusCode: 400,
      error: { param: 'input.0.tools.0' },
    })
  })

  it('400: more tools in namespaces than a request may have', async () => {
    const inner = Array.from({ length: 1_024 }, (_, index) => ({ type: 'function', name: `f${index}` }))
    const { statusCode, text } = await create({ ...BODY, tools: [{ type: 'namespace', name: 'n', tools: inner }] })
    expect({ statusCode, error: JSON.parse(text).error }).toMatchObject({ statusCode: 400, error: { param: 'tools' } })
  })

  it('an upstream’s 400 keeps its status and its words', async () => {
    const error = { message: 'Bad thing', type: 'invalid_request_error', param: 'input', code: 'x' }
    upstream().answerWith((outgoing) => sendJson(outgoing, { error }, 400))
    const { statusCode, text } = await create(BODY)
    expect({ statusCode, body: JSON.parse(text) }).toStrictEqual({ statusCode: 400, body: { error } })
  })

  it('503 when every channel is overloaded (529)', async () => {
    for (const each of rig.upstreams) {
      each.answerWith((outgoing) => sendJson(outgoing, { error: { type: 'overloaded_error', message: 'no' } }, 529))
    }
    const { statusCode } = await create(BODY)
    expect(statusCode).toBe(503)
  })

  it('create-chat-completion 400: names the route that serves the model', async () => {
    const { statusCode, text } = await rig.send({ model: CHAT, messages: [{ role: 'user', content: 'hi' }] })
    expect({ statusCode, text }).toMatchObject({ statusCode: 400, text: expect.stringContaining('/v1/responses') })
  })
})
