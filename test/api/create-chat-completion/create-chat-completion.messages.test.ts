import { describe, expect, it } from '@jest/globals'
import { CHAT, openStream, sendJson, startRelayRig } from '../../engines/relay-rig.ts'
import { useOpened } from '../../engines/use-opened.ts'

const rig = useOpened(() =>
  startRelayRig({
    channels: 2,
    channel: { apis: { messages: { path: '/messages' } } },
    chat: { input_modalities: ['text', 'image'], image_tokens: 100 },
  }),
)

const BODY = { model: CHAT, messages: [{ role: 'user', content: 'Say hi' }], max_tokens: 10 }
const USAGE = { input_tokens: 15, cache_creation_input_tokens: 0, cache_read_input_tokens: 5, output_tokens: 3 }

const message = (fields: object = {}) => ({
  id: 'msg_up',
  type: 'message',
  role: 'assistant',
  model: 'upstream-chat',
  content: [
    { type: 'thinking', thinking: 'Hm', signature: 's' },
    { type: 'text', text: 'Hi there' },
    { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: USAGE,
  ...fields,
})

const event = (type: string, fields: object = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
const delta = (index: number, part: object) => event('content_block_delta', { index, delta: part })

const STREAM = [
  event('message_start', {
    message: message({ content: [], stop_reason: null, usage: { ...USAGE, output_tokens: 1 } }),
  }),
  event('content_block_start', { index: 0, content_block: { type: 'thinking', thinking: '' } }),
  delta(0, { type: 'thinking_delta', thinking: 'Hm' }),
  delta(0, { type: 'signature_delta', signature: 's' }),
  event('content_block_stop', { index: 0 }),
  event('ping'),
  event('content_block_start', { index: 1, content_block: { type: 'text', text: '' } }),
  delta(1, { type: 'text_delta', text: 'Grüße' }),
  event('content_block_stop', { index: 1 }),
  event('content_block_start', { index: 2, content_block: { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} } }),
  delta(2, { type: 'input_json_delta', partial_json: '{"a":' }),
  delta(2, { type: 'input_json_delta', partial_json: '1}' }),
  event('content_block_stop', { index: 2 }),
  event('message_delta', { delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 3 } }),
  event('message_stop'),
]

function upstream(index = 0) {
  const found = rig.upstreams[index]
  if (found === undefined) {
    throw new TypeError('there is no upstream')
  }
  return found
}

function chunksOf(text: string): Record<string, unknown>[] {
  const events = text.split('\n\n').filter((each) => each.startsWith('data: {'))
  return events.map((each) => JSON.parse(each.slice('data: '.length)))
}

describe('create-chat-completion on a channel that speaks messages alone', () => {
  it('sends a request for a message, with the system apart and the results of tools in messages of the user', async () => {
    upstream().answerWith((outgoing) => sendJson(outgoing, message()))
    const call = { id: 'call.1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }
    const messages = [
      { role: 'system', content: 'Be brief' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call.1', content: 'one' },
      { role: 'user', content: 'and?' },
    ]
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }]
    const { statusCode } = await rig.send({
      ...BODY,
      messages,
      tools,
      tool_choice: 'required',
      stop: 'X',
      temperature: 2,
    })
    expect(statusCode).toBe(200)
    const id = `rgid_${Buffer.from('call.1').toString('base64url')}`
    expect(upstream().calls.at(-1)).toMatchObject({ path: '/v1/messages', headers: { 'x-api-key': 'none' } })
    expect(upstream().calls.at(-1)?.body).toStrictEqual({
      model: 'upstream-chat',
      max_tokens: 10,
      system: 'Be brief',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: { a: 1 } }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: 'one' }] },
            { type: 'text', text: 'and?' },
          ],
        },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
      tool_choice: { type: 'any' },
      temperature: 1,
      stop_sequences: ['X'],
    })
  })

  it('200: is a whole chat completion, billed with the cache apart', async () => {
    const { id, key } = await rig.tenant('1')
    upstream().answerWith((outgoing) => sendJson(outgoing, message()))
    const { text } = await rig.send(BODY, { key })
    expect(JSON.parse(text)).toMatchObject({
      id: 'chatcmpl-up',
      object: 'chat.completion',
      model: CHAT,
      choices: [
        {
          message: {
            content: 'Hi there',
            reasoning_content: 'Hm',
            tool_calls: [{ id: 'toolu_1', function: { name: 'f', arguments: '{"a":1}' } }],
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 20,
        completion_tokens: 3,
        total_tokens: 23,
        prompt_tokens_details: { cached_tokens: 5 },
        cost: 0.026,
      },
    })
    expect((await rig.rows(id))[0]).toMatchObject({ usage: { inputTokens: 15, cachedInputTokens: 5 } })
    expect(await rig.balance(id)).toMatchObject({ spent: '0.026' })
  })

  it('streams chunks of a chat, with the usage for a client that asked for it', async () => {
    const { id, key } = await rig.tenant('1')
    upstream().answerWith((outgoing) => void openStream(outgoing).end(STREAM.join('')))
    const { text } = await rig.send({ ...BODY, stream: true, stream_options: { include_usage: true } }, { key })
    const chunks = chunksOf(text)
    const deltas = chunks.flatMap(({ choices }) =>
      (choices as { delta: Record<string, unknown> }[]).map((each) => each.delta),
    )
    expect(deltas.map(({ content }) => content ?? '').join('')).toBe('Grüße')
    expect(deltas.map(({ reasoning_content }) => reasoning_content ?? '').join('')).toBe('Hm')
    const calls = deltas.flatMap(
      ({ tool_calls }) => (tool_calls ?? []) as { index: number; function: { arguments: string } }[],
    )
    expect(calls.map((call) => call.function.arguments).join('')).toBe('{"a":1}')
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 23, cost: 0.026 } })
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(await rig.balance(id)).toMatchObject({ spent: '0.026' })
  })

  it('a stream that breaks off ends as any chat', async () => {
    upstream().answerWith((outgoing) => void openStream(outgoing).end(STREAM.slice(0, 9).join('')))
    const { text } = await rig.send({ ...BODY, stream: true })
    expect(text).toMatch(/data: \{"error":\{[^\n]*\}\n\n$/)
    expect(text).not.toContain('[DONE]')
  })

  it('an upstream’s 400 comes in the envelope of chat', async () => {
    const body = { type: 'error', error: { type: 'invalid_request_error', message: 'bad' } }
    upstream().answerWith((outgoing) => sendJson(outgoing, body, 400))
    const { statusCode, text } = await rig.send(BODY)
    expect({ statusCode, body: JSON.parse(text) }).toStrictEqual({
      statusCode: 400,
      body: { error: { message: 'bad', type: 'invalid_request_error', param: null, code: null } },
    })
  })

  it.each([
    ['create-chat-completion', { n: 2 }],
    ['create-completion', { prompt: 'Say', messages: undefined, n: 2 }],
  ] as const)('%s 400: more than one choice', async (operation, fields) => {
    const { statusCode, text } = await rig.send({ ...BODY, ...fields }, { operation })
    expect({ statusCode, error: JSON.parse(text).error }).toMatchObject({ statusCode: 400, error: { param: 'n' } })
  })

  it('create-response 200: is translated twice', async () => {
    upstream().answerWith((outgoing) => void openStream(outgoing).end(STREAM.join('')))
    const body = {
      model: CHAT,
      input: 'hi',
      stream: true,
      max_output_tokens: 10,
      tools: [{ type: 'function', name: 'f' }],
    }
    const { text } = await rig.send(body, { operation: 'create-response' })
    const last = JSON.parse(text.trimEnd().split('\n').at(-1)?.slice('data: '.length) ?? '')
    expect(last).toMatchObject({
      type: 'response.completed',
      response: {
        output: [
          { type: 'reasoning' },
          { type: 'message', content: [{ text: 'Grüße' }] },
          { type: 'function_call', name: 'f', call_id: 'toolu_1', arguments: '{"a":1}' },
        ],
        usage: { input_tokens: 20, input_tokens_details: { cached_tokens: 5 }, cost: 0.026 },
      },
    })
    upstream().answerWith((outgoing) => sendJson(outgoing, message()))
    const whole = await rig.send({ ...body, stream: false }, { operation: 'create-response' })
    expect(JSON.parse(whole.text)).toMatchObject({ status: 'completed', usage: { cost: 0.026 } })
  })

  it('create-completion 200: is translated twice', async () => {
    upstream().answerWith((outgoing) => sendJson(outgoing, message()))
    const { text } = await rig.send({ model: CHAT, prompt: 'Say', max_tokens: 10 }, { operation: 'create-completion' })
    expect(JSON.parse(text)).toMatchObject({ object: 'text_completion', choices: [{ text: 'Hi there' }] })
  })
})

describe('create-response on a channel that speaks messages alone', () => {
  it('names what is left out as the client wrote it, and nothing else', async () => {
    upstream().answerWith((outgoing) => sendJson(outgoing, message()))
    const body = { model: CHAT, input: 'q', top_logprobs: 2, text: { verbosity: 'low' } }
    const { statusCode, headers } = await rig.send(body, { operation: 'create-response' })
    expect({ statusCode, ignored: headers['x-reelgate-ignored'] }).toEqual({
      statusCode: 200,
      ignored: 'text.verbosity, top_logprobs',
    })
  })
})
