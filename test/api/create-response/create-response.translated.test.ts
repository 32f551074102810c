import { describe, expect, it } from '@jest/globals'
import {
  CHAT,
  chatAnswer,
  chatEvent,
  DONE,
  openStream,
  sendJson,
  sendStream,
  startRelayRig,
} from '../../engines/relay-rig.ts'
import { useOpened } from '../../engines/use-opened.ts'

const rig = useOpened(() =>
  startRelayRig({ channels: 2, chat: { input_modalities: ['text', 'image'], image_tokens: 100 } }),
)

const BODY = { model: CHAT, input: 'Say hi', max_output_tokens: 10 }

function upstream(index = 0) {
  const found = rig.upstreams[index]
  if (found === undefined) {
    throw new TypeError('there is no upstream')
  }
  return found
}

const create = (body: object, call: object = {}) => rig.send(body, { operation: 'create-response', ...call })

/** What the upstream gets for a request. */
async function sent(body: object): Promise<Record<string, unknown>> {
  upstream().answerWith((outgoing) => sendJson(outgoing, chatAnswer()))
  const { statusCode, text } = await create({ ...BODY, ...body })
  expect({ statusCode, text }).toMatchObject({ statusCode: 200 })
  return upstream().calls.at(-1)?.body ?? {}
}

/** The events of a stream, without their `event` lines, which must agree. */
function eventsOf(text: string): Record<string, unknown>[] {
  return text
    .split('\n\n')
    .filter((event) => event !== '' && !event.startsWith(':'))
    .map((event) => {
      const [name = '', data = ''] = event.split('\n')
      const json = JSON.parse(data.slice('data: '.length))
      expect(name).toBe(`event: ${json.type}`)
      return json
    })
}

const choice = (delta: object, finish_reason: string | null = null) =>
  chatEvent({ choices: [{ index: 0, delta, finish_reason }] })
const USAGE = chatEvent({
  choices: [],
  usage: {
    prompt_tokens: 20,
    completion_tokens: 3,
    total_tokens: 23,
    prompt_tokens_details: { cached_tokens: 5 },
    completion_tokens_details: { reasoning_tokens: 2 },
  },
})

async function streamed(...chunks: string[]) {
  upstream().answerWith((outgoing) => sendStream(outgoing, ...chunks))
  const { text } = await create({ ...BODY, stream: true })
  return eventsOf(text)
}

describe('create-response on a channel that speaks chat: the request', () => {
  it('a string and instructions become messages of user and system', async () => {
    expect(await sent({ instructions: 'Be brief' })).toStrictEqual({
      model: 'upstream-chat',
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'Say hi' },
      ],
      max_completion_tokens: 10,
    })
  })

  it('texts, images and the role of developers', async () => {
    const input = [
      { role: 'developer', content: [{ type: 'input_text', text: 'Rules' }] },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'See' },
          { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' },
        ],
      },
    ]
    expect((await sent({ input })).messages).toStrictEqual([
      { role: 'system', content: 'Rules' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
        ],
      },
    ])
  })

  it('parallel calls become one message, followed by all of their outputs in order, whatever stands between', async () => {
    const call = (call_id: string) => ({ type: 'function_call', call_id, name: 'f', arguments: `{"c":"${call_id}"}` })
    const output = (call_id: string, value: unknown) => ({ type: 'function_call_output', call_id, output: value })
    const input = [
      { role: 'user', content: 'go' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'calling' }] },
      call('a'),
      { type: 'reasoning', id: 'rs', summary: [] },
      { type: 'message', role: 'assistant', content: 'between' },
      call('b'),
      output('b', 'B'),
      output('a', [
        { type: 'input_text', text: 'A' },
        { type: 'input_image', image_url: 'https://example.com/a.png' },
      ]),
    ]
    const toolCall = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: `{"c":"${id}"}` } })
    expect((await sent({ input })).messages).toStrictEqual([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'calling', tool_calls: [toolCall('a'), toolCall('b')] },
      { role: 'tool', tool_call_id: 'a', content: 'A' },
      { role: 'tool', tool_call_id: 'b', content: 'B' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] },
      { role: 'assistant', content: 'between' },
    ])
  })

  it('functions, namespaces and custom tools become functions, and the choice of one follows', async () => {
    const parameters = { type: 'object', properties: {} }
    const tools = [
      { type: 'function', name: 'plain', description: 'D', parameters, strict: true },
      { type: 'namespace', name: 'ns', tools: [{ type: 'function', name: 'inner', parameters }] },
      {
        type: 'custom',
        name: 'patch',
        description: 'P',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
      },
      { type: 'web_search' },
    ]
    const body = await sent({
      tools,
      tool_choice: { type: 'function', namespace: 'ns', name: 'inner' },
      parallel_tool_calls: false,
    })
    expect(body).toMatchObject({
      tools: [
        { type: 'function', function: { name: 'plain', description: 'D', parameters, strict: true } },
        { type: 'function', function: { name: 'ns__inner', parameters } },
        { type: 'function', function: { name: 'patch', description: expect.stringContaining('start: "x"') } },
      ],
      tool_choice: { type: 'function', function: { name: 'ns__inner' } },
      parallel_tool_calls: false,
    })
  })

  it('structured output, effort, verbosity, log probabilities and sampling', async () => {
    const schema = { name: 'out', schema: { type: 'object' }, strict: true }
    const body = await sent({
      text: { format: { type: 'json_schema', ...schema }, verbosity: 'low' },
      reasoning: { effort: 'high', summary: 'auto' },
      top_logprobs: 2,
      temperature: 0.5,
      prompt_cache_key: 'k',
    })
    expect(body).toMatchObject({
      response_format: { type: 'json_schema', json_schema: schema },
      verbosity: 'low',
      reasoning_effort: 'high',
      logprobs: true,
      top_logprobs: 2,
      temperature: 0.5,
      prompt_cache_key: 'k',
    })
  })

  it('fields without a counterpart are ignored and named', async () => {
    upstream().answerWith((outgoing) => sendJson(outgoing, chatAnswer()))
    const { headers } = await create({ ...BODY, client_metadata: {}, include: ['reasoning.encrypted_content'] })
    expect(headers['x-reelgate-ignored']).toBe('client_metadata, include')
  })

  it.each([
    ['input_file', [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }], 'input.0.content.0'],
    ['an image by its id', [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }], 'input.0.content.0'],
    ['web_search_call', [{ type: 'web_search_call', id: 'w' }], 'input.0'],
    ['item_reference', [{ type: 'item_reference', id: 'i' }], 'input.0'],
    ['compaction', [{ type: 'compaction', encrypted_content: 'x' }], 'input.0'],
  ])('400: %s', async (_, input, param) => {
    const { statusCode, text } = await create({ ...BODY, input })
    expect({ statusCode, error: JSON.parse(text).error }).toMatchObject({ statusCode: 400, error: { param } })
  })
})

describe('create-response on a channel that speaks chat: the reply', () => {
  it('is a whole response with every field of the schema, and the price of its usage', async () => {
    const { id, key } = await rig.tenant('1')
    upstream().answerWith((outgoing) => sendJson(outgoing, chatAnswer()))
    const { headers, text } = await create(BODY, { key })
    expect(JSON.parse(text)).toMatchObject({
      id: expect.stringMatching(/^resp_[0-9a-f]{32}$/),
      object: 'response',
      status: 'completed',
      store: false,
      model: CHAT,
      error: null,
      incomplete_details: null,
      output: [
        {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hi there' }],
        },
      ],
      usage: { input_tokens: 9, output_tokens: 3, total_tokens: 12, cost: 0.015 },
    })
    expect(headers['x-reelgate-cost']).toBe('0.015')
    expect(await rig.balance(id)).toMatchObject({ spent: '0.015' })
  })

  it('is a stream of events in the documented order, with numbers, indices and ids that agree', async () => {
    const events = await streamed(
      choice({ role: 'assistant', content: '' }),
      choice({ reasoning_content: 'Hm' }),
      choice({ content: 'Grü' }),
      choice({ content: 'ße' }),
      choice({ tool_calls: [{ index: 0, id: 'call_a', function: { name: 'f', arguments: '' } }] }),
      choice({
        tool_calls: [
          { index: 0, function: { arguments: '{}' } },
          { index: 1, id: 'call_b', function: { name: 'g', arguments: '{"x":' } },
        ],
      }),
      choice({ tool_calls: [{ index: 1, function: { arguments: '1}' } }] }),
      choice({}, 'tool_calls'),
      USAGE,
      DONE,
    )
    expect(events.map(({ sequence_number }) => sequence_number)).toStrictEqual(events.map((_, index) => index))
    expect(events.map(({ type }) => String(type).replace('response.', ''))).toStrictEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'reasoning_text.delta',
      'reasoning_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_item.added',
      'function_call_arguments.delta',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'function_call_arguments.done',
      'output_item.done',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ])
    const last = events.at(-1)?.response as Record<string, unknown>
    const done = events.filter(({ type }) => type === 'response.output_item.done')
    expect(last.output).toStrictEqual(
      done.toSorted((a, b) => Number(a.output_index) - Number(b.output_index)).map(({ item }) => item),
    )
    expect(last).toMatchObject({
      status: 'completed',
      output: [
        { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Hm' }] },
        { type: 'message', content: [{ type: 'output_text', text: 'Grüße' }] },
        { type: 'function_call', call_id: 'call_a', name: 'f', arguments: '{}' },
        { type: 'function_call', call_id: 'call_b', name: 'g', arguments: '{"x":1}' },
      ],
      usage: {
        input_tokens: 20,
        input_tokens_details: { cached_tokens: 5 },
        output_tokens: 3,
        output_tokens_details: { reasoning_tokens: 2 },
        cost: 0.026,
      },
    })
  })

  it.each([
    ['length', { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }],
    ['content_filter', { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }],
    ['stop', { status: 'completed', incomplete_details: null }],
  ])('ends by the finish reason %s', async (reason, expected) => {
    const events = await streamed(choice({ content: 'Hi' }), choice({}, reason), USAGE, DONE)
    expect(events.at(-1)).toMatchObject({ response: expected })
  })

  it('a refusal is a part of its own', async () => {
    const events = await streamed(choice({ refusal: 'I must not' }), choice({}, 'stop'), USAGE, DONE)
    expect(events.map(({ type }) => type)).toContain('response.refusal.delta')
    expect(events.at(-1)).toMatchObject({
      response: { output: [{ content: [{ type: 'refusal', refusal: 'I must not' }] }] },
    })
  })

  it('links of the text are annotations, each with an event', async () => {
    const link = { start_index: 0, end_index: 2, title: 'A', url: 'https://a.example' }
    const annotations = [{ type: 'url_citation', url_citation: link }, { type: 'odd' }]
    const events = await streamed(choice({ content: 'Hi' }), choice({ annotations }), choice({}, 'stop'), USAGE, DONE)
    const annotation = { type: 'url_citation', ...link }
    const place = { item_id: expect.any(String), output_index: 0, content_index: 0, annotation_index: 0 }
    expect(events.find(({ type }) => type === 'response.output_text.annotation.added')).toMatchObject({
      ...place,
      annotation,
    })
    expect(events.at(-1)).toMatchObject({ response: { output: [{ content: [{ annotations: [annotation] }] }] } })
    // Without a text they belong to nothing.
    const without = await streamed(choice({ annotations }), choice({ content: 'Hi' }), choice({}, 'stop'), USAGE, DONE)
    expect(without.at(-1)).toMatchObject({ response: { output: [{ content: [{ annotations: [] }] }] } })
  })

  it('a call without a name ends a stream as failed, and is a 502 whole', async () => {
    const called = { tool_calls: [{ index: 0, id: 'a', function: { arguments: '{}' } }] }
    upstream().answerWith((outgoing) => {
      openStream(outgoing).end(
        [choice({ content: 'Hi' }), choice(called), choice({}, 'tool_calls'), USAGE, DONE].join(''),
      )
    })
    const last = eventsOf((await create({ ...BODY, stream: true })).text).at(-1)
    expect(last).toMatchObject({
      type: 'response.failed',
      response: { error: { message: 'the upstream called a tool without a name' }, output: [{ type: 'message' }] },
    })
    for (const each of rig.upstreams) {
      const message = { role: 'assistant', ...called }
      each.answerWith((outgoing) =>
        sendJson(outgoing, chatAnswer({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] })),
      )
    }
    expect(await create(BODY)).toMatchObject({ statusCode: 502 })
  })

  it('calls of custom tools and of namespaces come back under their own names', async () => {
    upstream().answerWith((outgoing) =>
      sendStream(
        outgoing,
        choice({ tool_calls: [{ index: 0, id: 'a', function: { name: 'patch', arguments: '{"input":"x\\ny"}' } }] }),
        choice({ tool_calls: [{ index: 1, id: 'b', function: { name: 'ns__inner', arguments: '{}' } }] }),
        choice({}, 'tool_calls'),
        USAGE,
        DONE,
      ),
    )
    const tools = [
      { type: 'custom', name: 'patch' },
      { type: 'namespace', name: 'ns', tools: [{ type: 'function', name: 'inner' }] },
    ]
    const { text } = await create({ ...BODY, stream: true, tools })
    const events = eventsOf(text)
    expect(events.map(({ type }) => type)).toContain('response.custom_tool_call_input.done')
    expect(events.at(-1)).toMatchObject({
      response: {
        output: [
          { type: 'custom_tool_call', name: 'patch', input: 'x\ny', call_id: 'a' },
          { type: 'function_call', name: 'inner', namespace: 'ns', call_id: 'b' },
        ],
      },
    })
  })

  it('a stream that breaks off ends with `response.failed`, which has what came, and is billed by it', async () => {
    const { id, key } = await rig.tenant('1')
    upstream().answerWith(async (outgoing) => {
      openStream(outgoing).write(choice({ content: 'Half' }))
      await new Promise((resolve) => setTimeout(resolve, 20))
      outgoing.destroy()
    })
    const { text } = await create({ ...BODY, stream: true }, { key })
    const events = eventsOf(text)
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      sequence_number: events.length - 1,
      response: { status: 'failed', error: { code: 'server_error' }, output: [{ content: [{ text: 'Half' }] }] },
    })
    expect((await rig.rows(id)).find(({ kind }) => kind === 'settle')).toMatchObject({ isEstimated: true })
  })

  it('an error in the middle ends the stream the same way, with the words of the upstream', async () => {
    const events = await streamed(choice({ content: 'Half' }), 'data: {"error":{"message":"exploded","type":"x"}}\n\n')
    expect(events.at(-1)).toMatchObject({ type: 'response.failed', response: { error: { message: 'exploded' } } })
  })

  it('goes to the next channel when the stream breaks before its first output', async () => {
    upstream(0).answerWith((outgoing) => sendStream(outgoing, choice({ role: 'assistant', content: '' })))
    upstream(1).answerWith((outgoing) =>
      sendStream(outgoing, choice({ content: 'Hi' }), choice({}, 'stop'), USAGE, DONE),
    )
    const { text } = await create({ ...BODY, stream: true })
    expect(eventsOf(text).at(-1)).toMatchObject({ type: 'response.completed' })
  })

  it('a whole reply becomes the same events for a client that wants a stream', async () => {
    upstream().answerWith((outgoing) => sendJson(outgoing, chatAnswer()))
    const { text } = await create({ ...BODY, stream: true })
    expect(eventsOf(text).at(-1)).toMatchObject({
      type: 'response.completed',
      response: { output: [{ content: [{ text: 'Hi there' }] }], usage: { cost: 0.015 } },
    })
  })

  it('an upstream’s 400 keeps its status and its words', async () => {
    const error = { message: 'Bad thing', type: 'invalid_request_error', param: 'x', code: 'y' }
    upstream().answerWith((outgoing) => sendJson(outgoing, { error }, 400))
    const { statusCode, text } = await create(BODY)
    expect({ statusCode, body: JSON.parse(text) }).toStrictEqual({ statusCode: 400, body: { error } })
  })
})
