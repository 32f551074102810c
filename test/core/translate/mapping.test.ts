import { describe, expect, it } from '@jest/globals'
import type { JsonObject } from '#core/json/parse-json-text.ts'
import { tokenCounts } from '#core/pricing/token-usage.ts'
import { chatToMessagesRequest } from '#core/translate/chat-request-to-messages.ts'
import { MessageTranslator } from '#core/translate/chat-to-messages.ts'
import { ResponseTranslator } from '#core/translate/chat-to-responses.ts'
import { messageToChat } from '#core/translate/messages-reply-to-chat.ts'
import { messagesToChat } from '#core/translate/messages-to-chat.ts'
import { responsesToChat } from '#core/translate/responses-to-chat.ts'
import { originalId, ToolNames } from '#core/translate/tool-names.ts'

const user = (content: unknown) => ({ role: 'user', content })
const system = (content: string) => ({ role: 'system', content })
const call = (id: string, name = 'f', text = '{}') => ({ id, type: 'function', function: { name, arguments: text } })
const item = (call_id: string, more: object = {}) => ({
  ...{ type: 'function_call', id: `fc_${call_id}`, call_id, name: 'f', arguments: '{}' },
  ...more,
})
const output = (call_id: string, value: unknown) => ({
  type: 'function_call_output',
  id: 'fco',
  call_id,
  output: value,
})
const SCHEMA = { type: 'object', properties: { a: { type: 'string' } } }
const LONG = 'x'.repeat(70)

describe('a request for a response, for chat:', () => {
  it.each<readonly [string, JsonObject, JsonObject]>([
    ['a string is one message of the user', { input: 'q' }, { messages: [user('q')] }],
    ['an item without a type is a message', { input: [user('q')] }, { messages: [user('q')] }],
    ['instructions come first', { instructions: 'i', input: 'q' }, { messages: [system('i'), user('q')] }],
    [
      'developers are the system, and system messages keep their places',
      { input: [{ role: 'developer', content: 'a' }, user('q'), system('b')] },
      { messages: [system('a'), user('q'), system('b')] },
    ],
    [
      'texts of all types are text',
      {
        input: [
          {
            role: 'assistant',
            content: [
              { type: 'output_text', text: 'a' },
              { type: 'refusal', refusal: 'b' },
            ],
          },
        ],
      },
      { messages: [{ role: 'assistant', content: 'ab' }] },
    ],
    [
      'the url of an image is in an object',
      { input: [user([{ type: 'input_image', image_url: 'https://a.example/b.png', detail: 'low' }])] },
      { messages: [user([{ type: 'image_url', image_url: { url: 'https://a.example/b.png', detail: 'low' } }])] },
    ],
    [
      'calls in a row are one message, followed by all outputs, which are found by `call_id`',
      { input: [item('a'), { type: 'reasoning', summary: [] }, item('b'), output('b', '2'), output('a', '1')] },
      {
        messages: [
          { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
          { role: 'tool', tool_call_id: 'a', content: '1' },
          { role: 'tool', tool_call_id: 'b', content: '2' },
        ],
      },
    ],
    [
      'an output of parts is a text, and its images follow in a message of the user',
      {
        input: [
          item('a'),
          output('a', [
            { type: 'input_text', text: 't' },
            { type: 'input_image', image_url: 'https://a' },
          ]),
        ],
      },
      {
        messages: [
          { role: 'assistant', content: null, tool_calls: [call('a')] },
          { role: 'tool', tool_call_id: 'a', content: 't' },
          user([{ type: 'image_url', image_url: { url: 'https://a' } }]),
        ],
      },
    ],
    [
      'a function is nested, and strict as it was',
      { input: 'q', tools: [{ type: 'function', name: 'f', description: 'd', parameters: SCHEMA, strict: true }] },
      { tools: [{ type: 'function', function: { name: 'f', description: 'd', parameters: SCHEMA, strict: true } }] },
    ],
    [
      'a function in a namespace has both names, and so has its call',
      {
        input: [item('a', { namespace: 'n' }), output('a', 'r')],
        tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f', parameters: SCHEMA }] }],
      },
      {
        messages: [{ tool_calls: [call('a', 'n__f')] }, { role: 'tool' }],
        tools: [{ type: 'function', function: { name: 'n__f', parameters: SCHEMA } }],
      },
    ],
    [
      'a custom tool is a function with one text, and its grammar is told',
      {
        input: [{ type: 'custom_tool_call', call_id: 'a', name: 'c', input: 'x' }, output('a', 'r')],
        tools: [
          { type: 'custom', name: 'c', description: 'd', format: { type: 'grammar', syntax: 'lark', definition: 'g' } },
        ],
      },
      {
        messages: [{ tool_calls: [call('a', 'c', '{"input":"x"}')] }, { role: 'tool' }],
        tools: [
          {
            function: {
              name: 'c',
              description: 'd\n\n`input` follows this grammar (lark):\ng',
              parameters: { required: ['input'] },
            },
          },
        ],
      },
    ],
    [
      'tools in the input count as tools',
      { input: [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'f' }] }, user('q')] },
      { messages: [user('q')], tools: [{ function: { name: 'f' } }] },
    ],
    [
      'a choice of a word stays',
      { input: 'q', tools: [{ type: 'function', name: 'f' }], tool_choice: 'required' },
      { tool_choice: 'required' },
    ],
    [
      'a choice of a function is nested',
      { input: 'q', tools: [{ type: 'function', name: 'f' }], tool_choice: { type: 'function', name: 'f' } },
      { tool_choice: { type: 'function', function: { name: 'f' } } },
    ],
    [
      'a choice of allowed tools leaves out the others',
      {
        input: 'q',
        tools: [
          { type: 'function', name: 'f' },
          { type: 'function', name: 'g' },
        ],
        tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'g' }] },
      },
      { tools: [{ function: { name: 'g' } }], tool_choice: 'required' },
    ],
    [
      'a schema is nested',
      {
        input: 'q',
        text: { format: { type: 'json_schema', name: 's', schema: SCHEMA, strict: true }, verbosity: 'low' },
      },
      {
        response_format: { type: 'json_schema', json_schema: { name: 's', schema: SCHEMA, strict: true } },
        verbosity: 'low',
      },
    ],
    [
      'an effort is `reasoning_effort`',
      { input: 'q', reasoning: { effort: 'high', summary: 'auto' } },
      { reasoning_effort: 'high' },
    ],
    [
      'log probabilities are asked for by their count',
      { input: 'q', include: ['message.output_text.logprobs'], top_logprobs: 3 },
      { logprobs: true, top_logprobs: 3 },
    ],
    [
      'what has the same name stays',
      {
        input: 'q',
        temperature: 0.5,
        top_p: 0.5,
        user: 'u',
        prompt_cache_key: 'k',
        parallel_tool_calls: false,
        tools: [{ type: 'function', name: 'f' }],
      },
      { temperature: 0.5, top_p: 0.5, user: 'u', prompt_cache_key: 'k', parallel_tool_calls: false },
    ],
  ])('%s', (_, body, chat) => {
    expect(responsesToChat(body).chat).toMatchObject(chat)
  })

  it('reasoning of a history goes up in the field of the channel alone, and what is encrypted never', () => {
    const reasoning = {
      type: 'reasoning',
      summary: [],
      content: [{ type: 'reasoning_text', text: 't' }],
      encrypted_content: 'e',
    }
    const body = { input: [user('q'), reasoning, { role: 'assistant', content: 'a' }] }
    expect(responsesToChat(body).chat.messages).toStrictEqual([user('q'), { role: 'assistant', content: 'a' }])
    expect(responsesToChat(body, 'reasoning_content').chat.messages).toStrictEqual([
      user('q'),
      { role: 'assistant', content: 'a', reasoning_content: 't' },
    ])
  })

  it('a search of the web and unknown fields are left out and named', () => {
    const tools = [{ type: 'function', name: 'f' }, { type: 'web_search' }]
    const { chat, ignored } = responsesToChat({ input: 'q', tools, client_metadata: {}, max_tool_calls: 3 })
    expect(chat.tools).toHaveLength(1)
    expect(ignored).toStrictEqual(['client_metadata', 'max_tool_calls', 'tools.web_search'])
  })

  it.each<readonly [string, JsonObject]>([
    ['input.0.content.0', { input: [user([{ type: 'input_file', file_id: 'f' }])] }],
    ['input.0.content.0', { input: [user([{ type: 'input_image', file_id: 'f' }])] }],
    ['input.0', { input: [{ type: 'computer_call' }] }],
    ['tools.0', { input: 'q', tools: [{ type: 'file_search' }] }],
    ['tool_choice', { input: 'q', tools: [{ type: 'function', name: 'f' }], tool_choice: { type: 'file_search' } }],
  ])('what is at %s has no counterpart, and is refused by its path', (path, body) => {
    expect(() => responsesToChat(body)).toThrow(
      expect.objectContaining({ issues: [expect.objectContaining({ path })] }),
    )
  })
})

describe('a part in the form of another API', () => {
  const asResponse = (part: JsonObject) => () => responsesToChat({ input: [user([part])] })
  const asMessage = (part: JsonObject) => () => messagesToChat({ messages: [user([part])] })
  const asChat = (part: JsonObject) => () => chatToMessagesRequest({ messages: [user([part])] })
  const NO_FILES = 'files are not translated'
  const IMAGE = 'write an image here as {"type":"image","source":'
  it.each([
    [
      'input.0.content.0',
      asResponse({ type: 'image_url', image_url: { url: 'u' } }),
      'write an image here as {"type":"input_image"',
    ],
    ['input.0.content.0', asResponse({ type: 'input_text' }), 'write text here as {"type":"input_text"'],
    ['messages.0.content.0', asMessage({ type: 'image_url', image_url: { url: 'u' } }), IMAGE],
    ['messages.0.content.0', asMessage({ type: 'image' }), IMAGE],
    ['messages.0.content.0', asMessage({ type: 'image', source: { type: 'base64', data: 'AA==' } }), IMAGE],
    ['messages.0.content.0', asMessage({ type: 'input_text', text: 'a' }), 'write text here as {"type":"text"'],
    ['input.0.content.0', asResponse({ type: 'input_file', file_data: 'data:application/pdf;base64,AA==' }), NO_FILES],
    ['messages.0.content.0', asMessage({ type: 'document', source: { type: 'text', data: 'x' } }), NO_FILES],
    ['messages.0.content.0', asChat({ type: 'file', file: { file_id: 'f' } }), NO_FILES],
  ])('or incomplete at %s is told the form of this one', (path, translate, form) => {
    const message = expect.stringContaining(form)
    expect(translate).toThrow(expect.objectContaining({ issues: [{ path, message }] }))
  })
})

describe('a field of a request for chat that has another form than its own API', () => {
  const asResponse = (fields: JsonObject) => () => responsesToChat({ input: 'q', ...fields })
  const asMessage = (fields: JsonObject) => () => messagesToChat({ messages: [user('q')], ...fields })
  it.each([
    ['text', asResponse({ text: 'json' })],
    ['text.format', asResponse({ text: { format: 'json_object' } })],
    ['text.format.type', asResponse({ text: { format: { type: 'jsonschema', name: 'a', schema: {} } } })],
    ['text.verbosity', asResponse({ text: { verbosity: 5 } })],
    ['reasoning', asResponse({ reasoning: 'low' })],
    ['reasoning.effort', asResponse({ reasoning: { effort: 5 } })],
    ['output_config', asMessage({ output_config: 'x' })],
    ['output_config.format', asMessage({ output_config: { format: 'json' } })],
    ['output_config.format.type', asMessage({ output_config: { format: { type: 'json_object' } } })],
    ['output_config.effort', asMessage({ output_config: { effort: 7 } })],
    ['tool_choice.type', asMessage({ tools: [{ name: 'f' }], tool_choice: { type: 'required' } })],
  ])('is refused at %s', (path, translate) => {
    expect(translate).toThrow(expect.objectContaining({ issues: [expect.objectContaining({ path })] }))
  })

  it('is named where a tool is chosen and none is offered', () => {
    expect(responsesToChat({ input: 'q', tool_choice: 'required' }).ignored).toEqual(['tool_choice'])
    expect(responsesToChat({ input: 'q', tool_choice: 'auto' }).ignored).toEqual([])
    expect(messagesToChat({ messages: [user('q')], tool_choice: { type: 'any' } }).ignored).toEqual(['tool_choice'])
    expect(messagesToChat({ messages: [user('q')], tool_choice: { type: 'auto' } }).ignored).toEqual([])
  })
})

describe('a request for chat that lacks a field which its own API requires', () => {
  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
  const without = (item: JsonObject, name: string) => ({ ...item, [name]: undefined })
  const assistant = (block: JsonObject) => ({ messages: [user('q'), { role: 'assistant', content: [block] }] })
  it.each([
    ['input.0.call_id', () => responsesToChat({ input: [{ type: 'function_call_output', output: 'r' }] })],
    ['input.0.output', () => responsesToChat({ input: [{ type: 'function_call_output', call_id: 'c' }] })],
    ['input.0.content', () => responsesToChat({ input: [{ type: 'message', role: 'user' }] })],
    ['input.0.name', () => responsesToChat({ input: [without(call, 'name')] })],
    ['input.0.arguments', () => responsesToChat({ input: [without(call, 'arguments')] })],
    ['input.0.input', () => responsesToChat({ input: [{ ...call, type: 'custom_tool_call' }] })],
    ['messages.0.content.0.tool_use_id', () => messagesToChat({ messages: [user([{ type: 'tool_result' }])] })],
    ['text.format.name', () => responsesToChat({ input: 'q', text: { format: { type: 'json_schema', schema: {} } } })],
    ['tools.0.name', () => messagesToChat({ messages: [user('q')], tools: [{ input_schema: {} }] })],
    [
      'tool_choice.name',
      () => messagesToChat({ messages: [user('q')], tools: [{ name: 'f' }], tool_choice: { type: 'tool' } }),
    ],
    ['messages.1.content.0.name', () => messagesToChat(assistant({ type: 'tool_use', id: 'c', input: {} }))],
  ])('is refused with the path %s', (path, translate) => {
    const message = expect.stringContaining('is required')
    expect(translate).toThrow(expect.objectContaining({ issues: [{ path, message }] }))
  })
})

describe('a conversation without content', () => {
  it.each([
    ['input', () => responsesToChat({ input: [] })],
    ['messages', () => messagesToChat({ messages: [user('')] })],
  ])('is refused at %s, in the words of its own API', (path, translate) => {
    const message = `\`${path}\` must have some content`
    expect(translate).toThrow(expect.objectContaining({ issues: [{ path, message }] }))
  })
})

describe('a tool in the form of chats', () => {
  const named = { type: 'function', function: { name: 'f' } }
  const chosen = { input: 'q', tools: [{ type: 'function', name: 'f' }], tool_choice: named }
  it.each([
    ['responses', 'tools.0', () => responsesToChat({ input: 'q', tools: [named] })],
    ['the choice of responses', 'tool_choice', () => responsesToChat(chosen)],
    ['messages', 'tools.0', () => messagesToChat({ messages: [user('q')], tools: [named] })],
  ])('is told in %s where its name belongs', (_, path, translate) => {
    const message = 'a function has its name and its schema beside each other here, not in an object `function`'
    expect(translate).toThrow(expect.objectContaining({ issues: [{ path, message }] }))
  })
})

const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} })
const result = (id: string, content: unknown) => ({ type: 'tool_result', tool_use_id: id, content })

describe('a request for a message, for chat:', () => {
  it.each<readonly [string, JsonObject, JsonObject]>([
    ['a system text comes first', { system: 's', messages: [user('q')] }, { messages: [system('s'), user('q')] }],
    [
      'blocks of the system are one text, without the attribution of Claude Code',
      {
        system: [
          { type: 'text', text: 'x-anthropic-billing-header: cc_version=1' },
          { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
          { type: 'text', text: 'b' },
        ],
        messages: [user('q')],
      },
      { messages: [system('a\n\nb'), user('q')] },
    ],
    [
      'system messages keep their places',
      { messages: [user('q'), system('s')] },
      { messages: [user('q'), system('s')] },
    ],
    [
      'images are urls of data, or their own',
      {
        messages: [
          user([
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
            { type: 'image', source: { type: 'url', url: 'https://a' } },
          ]),
        ],
      },
      {
        messages: [
          user([
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
            { type: 'image_url', image_url: { url: 'https://a' } },
          ]),
        ],
      },
    ],
    [
      'results come before the words of their message, in the order of the calls',
      {
        messages: [
          { role: 'assistant', content: [{ type: 'text', text: 't' }, use('a'), use('b')] },
          user([{ type: 'text', text: 'q' }, result('b', '2'), result('a', [{ type: 'text', text: '1' }])]),
        ],
      },
      {
        messages: [
          { role: 'assistant', content: 't', tool_calls: [call('a'), call('b')] },
          { role: 'tool', tool_call_id: 'a', content: '1' },
          { role: 'tool', tool_call_id: 'b', content: '2' },
          user('q'),
        ],
      },
    ],
    [
      'a tool is a function',
      { messages: [user('q')], tools: [{ name: 'f', description: 'd', input_schema: SCHEMA }] },
      { tools: [{ type: 'function', function: { name: 'f', description: 'd', parameters: SCHEMA } }] },
    ],
    ...(
      [
        [{ type: 'auto' }, 'auto'],
        [{ type: 'any' }, 'required'],
        [{ type: 'none' }, 'none'],
        [
          { type: 'tool', name: 'f' },
          { type: 'function', function: { name: 'f' } },
        ],
      ] as const
    ).map(
      ([tool_choice, expected]) =>
        [
          `the choice ${tool_choice.type}`,
          { messages: [user('q')], tools: [{ name: 'f' }], tool_choice },
          { tool_choice: expected },
        ] as const,
    ),
    [
      'a single call at a time',
      { messages: [user('q')], tools: [{ name: 'f' }], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      { parallel_tool_calls: false },
    ],
    ['stop sequences are `stop`', { messages: [user('q')], stop_sequences: ['s'] }, { stop: ['s'] }],
    [
      'an effort and a schema',
      { messages: [user('q')], output_config: { effort: 'low', format: { type: 'json_schema', schema: SCHEMA } } },
      {
        reasoning_effort: 'low',
        response_format: { type: 'json_schema', json_schema: { schema: SCHEMA, strict: true } },
      },
    ],
  ])('%s', (_, body, chat) => {
    expect(messagesToChat(body).chat).toMatchObject(chat)
  })

  it('a budget of thinking, the user of the metadata and marks of the cache do not go up', () => {
    const body = {
      messages: [user([{ type: 'text', text: 'q', cache_control: { type: 'ephemeral' } }])],
      thinking: { type: 'enabled', budget_tokens: 9 },
      metadata: { user_id: 'u' },
    }
    const ignored = ['messages.content.cache_control', 'thinking']
    expect(messagesToChat(body)).toMatchObject({ chat: { messages: [user('q')] }, ignored })
    expect(Object.keys(messagesToChat(body).chat)).toStrictEqual(['messages'])
  })

  it('thinking of a history goes up in the field of the channel alone', () => {
    const thought = { type: 'thinking', thinking: 't', signature: 's' }
    const hidden = { type: 'redacted_thinking', data: 'd' }
    const body = {
      messages: [user('q'), { role: 'assistant', content: [thought, hidden, { type: 'text', text: 'a' }] }],
    }
    const said = { role: 'assistant', content: 'a' }
    expect(messagesToChat(body).chat.messages).toStrictEqual([user('q'), said])
    expect(messagesToChat(body, 'reasoning').chat.messages).toStrictEqual([user('q'), { ...said, reasoning: 't' }])
  })

  it.each<readonly [string, JsonObject]>([
    ['messages.0.content.0', { messages: [user([{ type: 'document', source: { type: 'text', data: 'x' } }])] }],
    ['messages.0.content.0', { messages: [user([{ type: 'image', source: { type: 'file', file_id: 'f' } }])] }],
    ['tools.0', { messages: [user('q')], tools: [{ type: 'bash_20250124', name: 'bash' }] }],
  ])('what is at %s has no counterpart, and is refused by its path', (path, body) => {
    expect(() => messagesToChat(body)).toThrow(expect.objectContaining({ issues: [expect.objectContaining({ path })] }))
  })
})

describe('a chat, for an upstream of messages:', () => {
  it('a message of the role function is refused, with the role that says the same', () => {
    const issue = { path: 'messages.0.role', message: expect.stringContaining('use tool, with `tool_call_id`') }
    const messages = [{ role: 'function', name: 'f', content: 'r' }]
    expect(() => chatToMessagesRequest({ messages })).toThrow(expect.objectContaining({ issues: [issue] }))
  })

  it.each<readonly [string, JsonObject, JsonObject]>([
    [
      'the system stands apart',
      { messages: [system('a'), user('q'), { role: 'developer', content: 'b' }] },
      { system: 'a\n\nb', messages: [user([{ type: 'text', text: 'q' }])] },
    ],
    [
      'results are blocks of the user, before the words that follow',
      {
        messages: [
          { role: 'assistant', content: null, tool_calls: [call('a', 'f', '{"x":1}')] },
          { role: 'tool', tool_call_id: 'a', content: 'r' },
          user('q'),
        ],
      },
      {
        messages: [
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } }] },
          user([
            { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'r' }] },
            { type: 'text', text: 'q' },
          ]),
        ],
      },
    ],
    [
      'images are their data, or a url',
      {
        messages: [
          user([
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
            { type: 'image_url', image_url: { url: 'https://a' } },
          ]),
        ],
      },
      {
        messages: [
          user([
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
            { type: 'image', source: { type: 'url', url: 'https://a' } },
          ]),
        ],
      },
    ],
    [
      'a function is a tool, and the choice has other words',
      {
        messages: [user('q')],
        tools: [{ type: 'function', function: { name: 'f', parameters: SCHEMA } }],
        tool_choice: 'required',
        parallel_tool_calls: false,
      },
      { tools: [{ name: 'f', input_schema: SCHEMA }], tool_choice: { type: 'any', disable_parallel_tool_use: true } },
    ],
    ['a stop is a list', { messages: [user('q')], stop: 's' }, { stop_sequences: ['s'] }],
    ['a temperature is 1 at most', { messages: [user('q')], temperature: 1.5 }, { temperature: 1 }],
    [
      'an effort and a schema',
      {
        messages: [user('q')],
        reasoning_effort: 'minimal',
        response_format: { type: 'json_schema', json_schema: { name: 's', schema: SCHEMA } },
      },
      { output_config: { effort: 'low', format: { type: 'json_schema', schema: SCHEMA } } },
    ],
  ])('%s', (_, body, request) => {
    expect(chatToMessagesRequest(body).chat).toMatchObject(request)
  })

  it('an id that the API does not take is written in another way, from which it comes back', () => {
    const { chat } = chatToMessagesRequest({ messages: [{ role: 'assistant', tool_calls: [call('functions.f:0')] }] })
    const [{ content }] = chat.messages as [{ content: { id: string }[] }]
    expect(content[0]?.id).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    expect(originalId(content[0]?.id ?? '')).toBe('functions.f:0')
  })
})

const names = (tools: JsonObject) => responsesToChat({ input: 'q', ...tools }).names
const counts = tokenCounts({ input: 15, cachedInput: 5, output: 3 })

/** The reply of a translator to one whole choice. */
function told(translator: ResponseTranslator | MessageTranslator, delta: object, finish_reason = 'stop', more = {}) {
  translator.chunk({ choices: [{ index: 0, delta, finish_reason }], ...more })
  translator.end({ counts, cost: undefined })
  return translator.reply
}
const asResponse = (tools: JsonObject = {}) =>
  new ResponseTranslator({ seed: 'abc', createdAt: 1, publicModel: 'm', body: {} }, names(tools))
const asMessage = () => new MessageTranslator({ seed: 'abc', publicModel: 'm' }, new ToolNames())

describe('the reply of a chat, as a response:', () => {
  it.each([
    ['stop', 'completed', null],
    ['tool_calls', 'completed', null],
    ['length', 'incomplete', { reason: 'max_output_tokens' }],
    ['content_filter', 'incomplete', { reason: 'content_filter' }],
  ])('the finish reason %s is %s', (reason, status, incomplete_details) => {
    expect(told(asResponse(), { content: 'a' }, reason)).toMatchObject({ status, incomplete_details })
  })

  it('calls count, although the finish reason is stop', () => {
    const { output: items } = told(asResponse(), { tool_calls: [call('a', 'f', '{"x":1}')] })
    expect(items).toMatchObject([{ type: 'function_call', call_id: 'a', name: 'f', arguments: '{"x":1}' }])
  })

  it('names of namespaces, of custom tools and long ones come back as they were', () => {
    const tools = [
      { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f' }] },
      { type: 'custom', name: 'c' },
      { type: 'function', name: LONG },
    ]
    const known = names({ tools })
    const calls = [call('a', 'n__f'), call('b', 'c', '{"input":"x"}'), call('d', known.upstreamOf({ name: LONG }))].map(
      (each, index) => ({ index, ...each }),
    )
    expect(told(asResponse({ tools }), { tool_calls: calls })).toMatchObject({
      output: [
        { type: 'function_call', name: 'f', namespace: 'n' },
        { type: 'custom_tool_call', name: 'c', input: 'x' },
        { type: 'function_call', name: LONG },
      ],
    })
  })

  it.each(['reasoning_content', 'reasoning'])('%s is an item of its own, before the message', (field) => {
    expect(told(asResponse(), { [field]: 't', content: 'a' })).toMatchObject({
      output: [
        { type: 'reasoning', content: [{ type: 'reasoning_text', text: 't' }] },
        { type: 'message', content: [{ type: 'output_text', text: 'a' }] },
      ],
    })
  })

  it('the cached and the reasoning tokens are parts of the usage', () => {
    const usage = { completion_tokens_details: { reasoning_tokens: 2 } }
    expect(told(asResponse(), { content: 'a' }, 'stop', { usage })).toMatchObject({
      usage: {
        input_tokens: 20,
        input_tokens_details: { cached_tokens: 5, cache_write_tokens: 0 },
        output_tokens: 3,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 23,
      },
    })
  })

  it('log probabilities stand with their text', () => {
    const translator = asResponse()
    const logprobs = { content: [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }] }
    translator.chunk({ choices: [{ index: 0, delta: { content: 'a' }, logprobs, finish_reason: 'stop' }] })
    translator.end({ counts, cost: undefined })
    expect(translator.reply).toMatchObject({ output: [{ content: [{ text: 'a', logprobs: logprobs.content }] }] })
  })
})

describe('the reply of a chat, as a message:', () => {
  it.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
  ])('the finish reason %s is %s', (reason, stop_reason) => {
    expect(told(asMessage(), { content: 'a' }, reason)).toMatchObject({ stop_reason, stop_sequence: null })
  })

  it('calls count, although the finish reason is stop', () => {
    expect(told(asMessage(), { tool_calls: [call('a', 'f', '{"x":1}')] })).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } }],
    })
  })

  it('reasoning is thinking with a signature, and a refusal is text', () => {
    expect(told(asMessage(), { reasoning: 't', refusal: 'no' })).toMatchObject({
      stop_reason: 'refusal',
      content: [
        { type: 'thinking', thinking: 't', signature: expect.any(String) },
        { type: 'text', text: 'no' },
      ],
    })
  })

  it('the input excludes what was read from the cache', () => {
    expect(told(asMessage(), { content: 'a' })).toMatchObject({
      usage: { input_tokens: 15, cache_read_input_tokens: 5, cache_creation_input_tokens: 0, output_tokens: 3 },
    })
  })
})

describe('a message, as the reply of a chat:', () => {
  const asChat = (fields: object) =>
    messageToChat({ id: 'msg_a', content: [], usage: {}, ...fields }, { names: new ToolNames(), created: 1 })

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool_calls'],
    ['refusal', 'content_filter'],
  ])('the stop reason %s is %s', (stop_reason, finish_reason) => {
    expect(asChat({ stop_reason })).toMatchObject({ choices: [{ finish_reason }] })
  })

  it('blocks are text, reasoning and calls', () => {
    const content = [
      { type: 'thinking', thinking: 't' },
      { type: 'text', text: 'a' },
      { ...use('b'), input: { x: 1 } },
    ]
    const message = { content: 'a', reasoning_content: 't', tool_calls: [call('b', 'f', '{"x":1}')] }
    expect(asChat({ content })).toMatchObject({ choices: [{ message }] })
  })

  it('the cache is inside of the prompt', () => {
    const usage = { input_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: 2, output_tokens: 3 }
    expect(asChat({ usage })).toMatchObject({
      usage: {
        prompt_tokens: 17,
        completion_tokens: 3,
        total_tokens: 20,
        prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 2 },
      },
    })
  })

  it('an error is one of chat', () => {
    const error = { type: 'overloaded_error', message: 'busy' }
    expect(messageToChat({ type: 'error', error }, { names: new ToolNames(), created: 1 })).toMatchObject({ error })
  })
})

describe('what a translation leaves out', () => {
  const echoed = { type: 'output_text', text: 'a', annotations: [], logprobs: [] }
  const quiet = [
    { type: 'message', id: 'm', status: 'completed', role: 'assistant', content: [echoed] },
    { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 's' }], encrypted_content: 'x' },
  ]

  it.each<[string, { readonly ignored: readonly string[] }, readonly string[]]>([
    [
      'of a response, for chat',
      responsesToChat({
        input: [...quiet, { role: 'user', phase: 1, content: [{ type: 'input_text', text: 'q', cache_control: {} }] }],
        ...{ store: true, include: ['reasoning.encrypted_content'], truncation: 'auto', foo: false, bar: null },
        ...{
          reasoning: { effort: 'low', summary: 'auto' },
          text: { stuff: 1 },
          stream_options: { include_obfuscation: true },
        },
        tools: [
          { type: 'function', name: 'f', defer_loading: true },
          { type: 'web_search', user_location: {} },
        ],
      }),
      [
        ...['input.phase', 'input.content.cache_control', 'store', 'include', 'truncation', 'foo'],
        ...[
          'reasoning.summary',
          'text.stuff',
          'stream_options.include_obfuscation',
          'tools.defer_loading',
          'tools.web_search',
        ],
      ],
    ],
    [
      'of a message, for chat',
      messagesToChat({
        system: [{ type: 'text', text: 's', cache_control: {} }],
        messages: [
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'u', is_error: true, content: [{ type: 'text', text: 'x', foo: 1 }] },
            ],
            id: 1,
          },
        ],
        ...{ metadata: { user_id: 'u', more: 1 }, top_k: 3, cache_control: {}, thinking: { type: 'adaptive' } },
        tools: [{ name: 'f', input_schema: {}, cache_control: {} }],
        tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true, foo: 1 },
      }),
      [
        ...['system.cache_control', 'messages.content.is_error', 'messages.content.content.foo', 'messages.id'],
        ...['metadata.more', 'top_k', 'cache_control', 'thinking', 'tools.cache_control', 'tool_choice.foo'],
      ],
    ],
    [
      'of a chat, for messages',
      chatToMessagesRequest({
        messages: [
          {
            role: 'user',
            name: 'n',
            content: [{ type: 'image_url', image_url: { url: 'https://a/b', detail: 'low' } }],
          },
        ],
        ...{
          store: true,
          metadata: {},
          seed: 1,
          logprobs: true,
          top_logprobs: 2,
          response_format: { type: 'json_object' },
        },
        tools: [{ type: 'function', function: { name: 'f', strict: true } }],
      }),
      [
        ...[
          'messages.name',
          'messages.content.image_url.detail',
          'store',
          'metadata',
          'seed',
          'logprobs',
          'top_logprobs',
        ],
        ...['response_format', 'tools.function.strict'],
      ],
    ],
  ])('%s, is named', (_, { ignored }, expected) => {
    expect(ignored).toStrictEqual(expected)
  })

  it('is nothing where the values say what is done anyway', () => {
    const input = [{ role: 'user', content: 'q' }, ...quiet]
    const off = { store: false, truncation: 'disabled', include: [], stream_options: { include_obfuscation: false } }
    expect(responsesToChat({ input, ...off }).ignored).toStrictEqual([])
    const result = { type: 'tool_result', tool_use_id: 'u', is_error: false }
    const message = { messages: [{ role: 'user', content: [result] }], thinking: { type: 'disabled' } }
    expect(messagesToChat(message).ignored).toStrictEqual([])
    const chat = { messages: [user('q')], store: false, logprobs: false, top_logprobs: 0, user: 'u' }
    expect(chatToMessagesRequest(chat).ignored).toStrictEqual([])
  })

  it('is named up to 20 times', () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`field${index}`, 1]))
    expect(messagesToChat({ messages: [user('q')], ...many }).ignored).toHaveLength(20)
  })
})
