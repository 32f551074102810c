import { describe, expect, it } from '@jest/globals'
import { InvalidRequestError } from '#core/errors.ts'
import type { JsonObject } from '#core/json/parse-json-text.ts'
import { chatToMessagesRequest } from '#core/translate/chat-request-to-messages.ts'
import { messagesToChat } from '#core/translate/messages-to-chat.ts'
import { responsesToChat } from '#core/translate/responses-to-chat.ts'

const ODD = { toString: 1 }
const TEXTS = ['a', null, 7, ODD, [], [{ type: 'text', text: 'a' }], [{ type: 'image_url', image_url: { url: ODD } }]]
const CONTENTS: readonly unknown[] = [
  ...TEXTS,
  [{ type: 'text', text: ODD, cache_control: { type: 'ephemeral' } }],
  [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }],
  [{ type: 'image_url', image_url: { url: 'https://a.example/b.png', detail: 'low' } }],
  [{ type: 'image_url', image_url: 'data:image/png,AA' }],
  [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }],
  [{ type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } }],
  [{ type: 'image', source: { type: 'file', file_id: 'f' } }],
  [
    { type: 'input_text', text: 'a' },
    { type: 'input_image', image_url: 'https://a.example/b.png', detail: 'high' },
  ],
  [{ type: 'input_image', file_id: 'f' }],
  [
    { type: 'output_text', text: 'a' },
    { type: 'refusal', refusal: ODD },
  ],
  [
    { type: 'thinking', thinking: ODD, signature: 's' },
    { type: 'redacted_thinking', data: 'x' },
  ],
  [
    { type: 'tool_use', id: 'c', name: 'f', input: { a: 1 } },
    { type: 'tool_use', id: ODD, name: ODD },
  ],
  [
    { type: 'tool_result', tool_use_id: 'c', content: 'r', is_error: true },
    { type: 'tool_result', tool_use_id: ODD },
  ],
  [{ type: 'tool_result', tool_use_id: 'c', content: [{ type: 'image', source: { type: 'url', url: 'https://a' } }] }],
  [{ type: 'refusal', refusal: 'no' }],
  [{ type: 'input_audio' }],
  [{ type: 'document' }],
  [ODD],
]
const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function']
const CALLS = [
  { tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }] },
  {
    tool_calls: [
      { id: ODD, function: { name: ODD, arguments: 'broken' } },
      { id: 'd', type: 'custom', custom: {} },
    ],
  },
  { refusal: 'no', content: null },
  { tool_call_id: ODD, content: 'r' },
]
const CHOICES: readonly unknown[] = [
  ...['auto', 'required', 'none', 'odd', ODD],
  { type: 'function', function: { name: 'f' } },
  { type: 'function', name: 'f' },
  { type: 'tool', name: 'f', disable_parallel_tool_use: true },
  { type: 'any' },
  { type: 'auto', disable_parallel_tool_use: true },
  { type: 'none' },
  { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] },
  { type: 'custom', name: 'f' },
]
const TOOLS: readonly unknown[] = [
  [{ type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true } }],
  [{ type: 'function', function: { name: ODD } }],
  [{ type: 'function', name: 'f', parameters: null, strict: null }],
  [{ type: 'custom', name: 'f', format: { type: 'grammar' } }],
  [
    {
      type: 'namespace',
      name: 'n',
      tools: [
        { type: 'function', name: 'f' },
        { type: 'custom', name: 'g' },
      ],
    },
  ],
  [
    { name: 'f', input_schema: { type: 'object' } },
    { type: 'web_search_20250305', name: 'w' },
  ],
  [
    { type: 'custom', name: 'f', description: 'd' },
    { type: 'bash_20250124', name: 'bash' },
  ],
  [{ type: 'local_shell' }],
  [ODD],
  [],
]
const OPTIONS: readonly JsonObject[] = [
  { stop: 'a', temperature: 1.5, top_p: 0.5, user: 'u', reasoning_effort: 'high', max_completion_tokens: 5 },
  { stop: ['a', 'b'], response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {} } }, seed: 1 },
  { response_format: { type: 'json_object' }, parallel_tool_calls: false, n: 1, logprobs: true },
  { stop_sequences: ['a'], thinking: { type: 'enabled', budget_tokens: 5 }, metadata: { user_id: 'u' }, top_k: 4 },
  {
    system: [{ type: 'text', text: 'a' }],
    output_config: { effort: 'low', format: { type: 'json_schema', schema: {} } },
  },
  {
    instructions: 'a',
    reasoning: { effort: 'low', summary: 'auto' },
    text: { format: { type: 'json_object' }, verbosity: 'low' },
  },
  {
    text: { format: { type: 'json_schema', name: 'n', schema: {}, strict: true } },
    include: ['message.output_text.logprobs'],
    top_logprobs: 2,
  },
  { text: ODD, reasoning: ODD, output_config: ODD, thinking: ODD, response_format: ODD, system: ODD },
]
const ITEMS: readonly unknown[] = [
  ...['message', undefined].flatMap((type) => ROLES.map((role) => ({ type, role, content: 'a' }))),
  { type: 'function_call', call_id: 'c', name: 'f', namespace: 'n', arguments: '{}' },
  { type: 'function_call_output', call_id: 'c', output: 'r' },
  { type: 'function_call_output', call_id: ODD, output: [{ type: 'input_image', image_url: 'https://a' }] },
  { type: 'custom_tool_call', call_id: 'c', name: 'g', input: 'x' },
  { type: 'custom_tool_call_output', call_id: 'c', output: 'r' },
  {
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'a' }],
    content: [{ type: 'reasoning_text', text: 'b' }],
  },
  { type: 'additional_tools', tools: [{ type: 'function', name: 'f' }] },
  { type: 'computer_call' },
]

const BODIES: readonly JsonObject[] = [
  ...ROLES.flatMap((role) =>
    CONTENTS.map((content) => ({
      messages: [
        { role: 'user', content: 'q' },
        { role, content },
      ],
    })),
  ),
  ...CALLS.map((call) => ({
    messages: [
      { role: 'assistant', content: 'a', ...call },
      { role: 'tool', ...call },
    ],
  })),
  ...CHOICES.map((tool_choice) => ({ messages: [{ role: 'user', content: 'q' }], tool_choice, tools: TOOLS[0] })),
  ...TOOLS.map((tools) => ({ messages: [{ role: 'user', content: 'q' }], tools })),
  ...OPTIONS.map((options) => ({ messages: [{ role: 'user', content: 'q' }], ...options })),
]
const RESPONSES: readonly JsonObject[] = [
  ...CONTENTS.flatMap((content) => ['user', 'assistant'].map((role) => ({ input: [{ role, content }] }))),
  ...ITEMS.map((item) => ({ input: [item] })),
  { input: ITEMS.slice(12, 17) },
  { input: 'q' },
  ...[
    ...CHOICES.map((tool_choice) => ({ tool_choice, tools: TOOLS[2] })),
    ...TOOLS.map((tools) => ({ tools })),
    ...OPTIONS,
  ].map((options) => ({ input: 'q', ...options })),
]

describe('a request in another protocol is translated, or refused with its path', () => {
  it.each([
    ['chatToMessagesRequest', chatToMessagesRequest, BODIES],
    ['messagesToChat', messagesToChat, BODIES],
    ['responsesToChat', responsesToChat, RESPONSES],
  ] as const)('by %s, whatever its values are', (_, translate, bodies) => {
    for (const body of bodies) {
      try {
        expect(JSON.stringify(translate(body))).toBeDefined()
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidRequestError)
      }
    }
  })
})
