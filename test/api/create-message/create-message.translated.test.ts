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

const BODY = { model: CHAT, max_tokens: 10, messages: [{ role: 'user', content: 'Say hi' }] }

function upstream(index = 0) {
  const found = rig.upstreams[index]
  if (found === undefined) {
    throw new TypeError('there is no upstream')
  }
  return found
}

const create = (body: object, call: object = {}) => rig.send(body, { operation: 'create-message', ...call })

async function sent(body: object): Promise<Record<string, unknown>> {
  upstream().answerWith((outgoing) => sendJson(outgoing, chatAnswer()))
  const { statusCode, text } = await create({ ...BODY, ...body })
  expect({ statusCode, text }).toMatchObject({ statusCode: 200 })
  return upstream().calls.at(-1)?.body ?? {}
}

function eventsOf(text: string): Record<string, unknown>[] {
  return text
    .split('\n\n')
    .filter((event) => event !== '')
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
  usage: { prompt_tokens: 20, completion_tokens: 3, total_tokens: 23, prompt_tokens_details: { cached_tokens: 5 } },
})

async function streamed(...chunks: string[]) {
  upstream().answerWith((outgoing) => sendStream(outgoing, ...chunks))
  const { text } = await create({ ...BODY, stream: true })
  return eventsOf(text)
}

/** Puts the blocks together as clients do, and checks that they never overlap. */
function blocksOf(events: readonly Record<string, unknown>[]) {
  const blocks: { type: string; text: string; block: Record<string, unknown> }[] = []
  let open: number | undefined
  for (const event of events) {
    if (event.type === 'content_block_start') {
      expect({ open, index: event.index }).toStrictEqual({ open: undefined, index: blocks.length })
      open = Number(event.index)
      const block = event.content_block as Record<string, unknown>
      blocks.push({ type: String(block.type), text: '', block })
    } else if (event.type === 'content_block_delta') {
      expect(event.index).toBe(open)
      const { text, thinking, partial_json } = event.delta as Record<string, string | undefined>
      const last = blocks.at(-1)
      if (last !== undefined) {
        last.text += text ?? thinking ?? partial_json ?? ''
      }
    } else if (event.type === 'content_block_stop') {
      expect(event.index).toBe(open)
      open = undefined
    }
  }
  expect(open).toBeUndefined()
  return blocks.map(({ type, text, block: { id, name } }) => ({
    type,
    text,
    ...(id === undefined ? {} : { id, name }),
  }))
}

describe('create-message on a channel that speaks chat: the request', () => {
  it('system, messages and the limit', async () => {
    const system = [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=1;' },
      { type: 'text', text: 'Be brief' },
    ]
    expect(await sent({ system, max_tokens: 32_000, metadata: { user_id: 'u' } })).toStrictEqual({
      model: 'upstream-chat',
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'Say hi' },
      ],
      max_tokens: 1000,
    })
  })

  it('images in it, and results of tools before the rest of their message', async () => {
    const messages = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'text', text: 'calling' },
          { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
          { type: 'tool_use', id: 'toolu_2', name: 'f', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'and?' },
          { type: 'tool_result', tool_use_id: 'toolu_2', content: [{ type: 'text', text: 'two' }] },
          { type: 'tool_result', tool_use_id: 'toolu_1', content: 'one' },
        ],
      },
    ]
    const call = (id: string, text: string) => ({ id, type: 'function', function: { name: 'f', arguments: text } })
    expect((await sent({ messages })).messages).toStrictEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
      { role: 'assistant', content: 'calling', tool_calls: [call('toolu_1', '{"a":1}'), call('toolu_2', '{}')] },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'one' },
      { role: 'tool', tool_call_id: 'toolu_2', content: 'two' },
      { role: 'user', content: 'and?' },
    ])
  })

  it.each([
    [{ type: 'auto' }, 'auto'],
    [{ type: 'any' }, 'required'],
    [{ type: 'none' }, 'none'],
    [
      { type: 'tool', name: 'f' },
      { type: 'function', function: { name: 'f' } },
    ],
  ])('tools, and the choice %j', async (tool_choice, expected) => {
    const tools = [{ name: 'f', description: 'D', input_schema: { type: 'object' } }]
    expect(await sent({ tools, tool_choice })).toMatchObject({
      tools: [{ type: 'function', function: { name: 'f', description: 'D', parameters: { type: 'object' } } }],
      tool_choice: expected,
    })
  })

  it('stop sequences, effort, structured output and single calls', async () => {
    const schema = { type: 'object' }
    const body = await sent({
      stop_sequences: ['X'],
      output_config: { effort: 'high', format: { type: 'json_schema', schema } },
      thinking: { type: 'enabled', budget_tokens: 2000 },
      tools: [{ name: 'f', input_schema: schema }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    })
    expect(body).toMatchObject({
      stop: ['X'],
      reasoning_effort: 'high',
      response_format: { type: 'json_schema', json_schema: { schema } },
      parallel_tool_calls: false,
    })
    expect(body).not.toHaveProperty('thinking')
  })

  it('fields without a counterpart are ignored and named', async () => {
    upstream().answerWith((outgoing) => sendJson(outgoing, chatAnswer()))
    const { headers } = await create({ ...BODY, top_k: 5, context_management: {} })
    expect(headers['x-reelgate-ignored']).toBe('top_k, context_management')
  })

  it('400: more stop sequences than a chat takes are refused by the name that the client knows', async () => {
    const { statusCode, text } = await create({ ...BODY, stop_sequences: ['a', 'b', 'c', 'd', 'e'] })
    expect(statusCode).toBe(400)
    expect(JSON.parse(text).error.message).toContain('`stop_sequences` must be at most 4 strings')
  })

  it.each([
    ['document', { type: 'document', source: { type: 'base64', data: 'AA' } }],
    ['a file', { type: 'image', source: { type: 'file', file_id: 'f' } }],
    ['search_result', { type: 'search_result', source: 'x' }],
  ])('400: %s is refused by its path', async (_, block) => {
    const content = [{ type: 'text', text: 'See' }, block]
    const { statusCode, text } = await create({ ...BODY, messages: [{ role: 'user', content }] })
    expect(statusCode).toBe(400)
    expect(JSON.parse(text).error).toMatchObject({
      type: 'invalid_request_error',
      message: expect.stringMatching(/^messages\.0\.content\.1: /),
    })
  })
})

describe('create-message on a channel that speaks chat: the reply', () => {
  it('is a whole message with the price of its usage', async () => {
    const { id, key } = await rig.tenant('1')
    upstream().answerWith((outgoing) => sendJson(outgoing, chatAnswer()))
    const { text } = await create(BODY, { key })
    expect(JSON.parse(text)).toStrictEqual({
      id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
      type: 'message',
      role: 'assistant',
      model: CHAT,
      content: [{ type: 'text', text: 'Hi there' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: 9,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 3,
        cost: 0.015,
      },
    })
    expect(await rig.balance(id)).toMatchObject({ spent: '0.015' })
  })

  it('is a stream whose blocks never overlap, although calls come in parallel', async () => {
    const events = await streamed(
      choice({ role: 'assistant', content: '' }),
      choice({ reasoning: 'Hm' }),
      choice({ content: 'Grü' }),
      choice({ content: 'ße' }),
      choice({ tool_calls: [{ index: 0, id: 'call.a', function: { name: 'f', arguments: '{"a":' } }] }),
      choice({ tool_calls: [{ index: 1, id: 'call_b', function: { name: 'g', arguments: '{"b":' } }] }),
      choice({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
      choice({ tool_calls: [{ index: 1, function: { arguments: '2}' } }] }),
      choice({}, 'tool_calls'),
      USAGE,
      DONE,
    )
    expect(blocksOf(events)).toStrictEqual([
      { type: 'thinking', text: 'Hm' },
      { type: 'text', text: 'Grüße' },
      { type: 'tool_use', text: '{"a":1}', id: `rgid_${Buffer.from('call.a').toString('base64url')}`, name: 'f' },
      { type: 'tool_use', text: '{"b":2}', id: 'call_b', name: 'g' },
    ])
    expect(events[0]).toMatchObject({ type: 'message_start', message: { content: [], stop_reason: null } })
    expect(events.slice(-2)).toMatchObject([
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use' },
        usage: { input_tokens: 15, cache_read_input_tokens: 5, output_tokens: 3, cost: 0.026 },
      },
      { type: 'message_stop' },
    ])
  })

  it('an upstream hears its own id of a call again', async () => {
    const messages = [
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: `rgid_${Buffer.from('call.a').toString('base64url')}`, name: 'f', input: {} },
        ],
      },
    ]
    expect((await sent({ messages })).messages).toMatchObject([{ tool_calls: [{ id: 'call.a' }] }])
  })

  it.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['something', 'end_turn'],
  ])('the finish reason %s is the stop reason %s', async (reason, expected) => {
    const events = await streamed(choice({ content: 'Hi' }), choice({}, reason), USAGE, DONE)
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: expected } })
  })

  it.each(['', 'null'])('arguments %j are the empty object', async (text) => {
    const events = await streamed(
      choice({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: text } }] }),
      choice({}, 'stop'),
      USAGE,
      DONE,
    )
    expect(blocksOf(events)).toStrictEqual([{ type: 'tool_use', text: '', id: 'a', name: 'f' }])
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } })
  })

  it('502: arguments that are no object, whole', async () => {
    const message = {
      role: 'assistant',
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '[1' } }],
    }
    for (const each of rig.upstreams) {
      each.answerWith((outgoing) =>
        sendJson(outgoing, chatAnswer({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] })),
      )
    }
    const { statusCode, text } = await create(BODY)
    expect({ statusCode, text }).toMatchObject({ statusCode: 502, text: expect.stringContaining('api_error') })
  })

  it.each([
    ['arguments that are no object', { name: 'f', arguments: '{"a"' }],
    ['a call without a name', { arguments: '{}' }],
  ])('%s end a stream with an error', async (_, called) => {
    const events = await streamed(
      choice({ content: 'Hi' }),
      choice({ tool_calls: [{ index: 0, id: 'a', function: called }] }),
      choice({}, 'tool_calls'),
      USAGE,
      DONE,
    )
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { type: 'api_error' } })
  })

  it('a stream that breaks off, or reports an error, ends with one error event', async () => {
    upstream().answerWith(async (outgoing) => {
      openStream(outgoing).write(choice({ content: 'Half' }))
      await new Promise((resolve) => setTimeout(resolve, 20))
      outgoing.destroy()
    })
    const broken = eventsOf((await create({ ...BODY, stream: true })).text)
    const failed = await streamed(choice({ content: 'Half' }), 'data: {"error":{"message":"exploded","type":"x"}}\n\n')
    expect(broken.at(-1)).toMatchObject({ type: 'error', error: { type: 'api_error' } })
    expect(failed.at(-1)).toStrictEqual({ type: 'error', error: { type: 'api_error', message: 'exploded' } })
    expect([...broken, ...failed].filter(({ type }) => type === 'error')).toHaveLength(2)
  })

  it('an upstream’s 400 comes in the envelope of the API', async () => {
    upstream().answerWith((outgoing) =>
      sendJson(outgoing, { error: { message: 'Bad thing', type: 'x', param: null, code: null } }, 400),
    )
    const { statusCode, text } = await create(BODY)
    expect({ statusCode, body: JSON.parse(text) }).toStrictEqual({
      statusCode: 400,
      body: { type: 'error', error: { type: 'invalid_request_error', message: 'Bad thing' } },
    })
  })

  it('count-message-tokens 200: is estimated', async () => {
    const { text } = await rig.send({ model: CHAT, messages: BODY.messages }, { operation: 'count-message-tokens' })
    expect(JSON.parse(text)).toStrictEqual({ input_tokens: expect.any(Number) })
  })
})
