import { describe, expect, it } from '@jest/globals'
import type { Route } from '#routes/define-route.ts'
import { ROUTES } from '#routes/index.ts'
import { committedSchema } from './documented-answer.ts'
import { parserOf } from './request-parsers.ts'

const HI = [{ role: 'user', content: 'hi' }]

/** The schema of each kind of body in the document, and the least that it and the gateway accept. */
const BODIES = {
  video: { schema: 'CreateVideoJobRequest', least: { model: 'famA-2', prompt: 'a cat' } },
  chat: { schema: 'CreateChatCompletionRequest', least: { model: 'chat-default', messages: HI } },
  response: { schema: 'CreateResponseRequest', least: { model: 'chat-default', input: 'hi' } },
  message: { schema: 'CreateMessageRequest', least: { model: 'chat-default', messages: HI, max_tokens: 5 } },
  count: { schema: 'CountMessageTokensRequest', least: { model: 'chat-default', messages: HI } },
  completion: { schema: 'CreateCompletionRequest', least: { model: 'chat-default', prompt: 'hi' } },
  embedding: { schema: 'CreateEmbeddingRequest', least: { model: 'text-embedding-3-small', input: 'hi' } },
  image: { schema: 'CreateImageRequest', least: { model: 'image-v3', prompt: 'a cat' } },
} as const

type Kind = keyof typeof BODIES

function judgements(kind: Kind, members: object): { parser: boolean; document: boolean } {
  const { schema, least } = BODIES[kind]
  // As it arrives: a member that is undefined is not there.
  const body: unknown = JSON.parse(JSON.stringify({ ...least, ...members }))
  const parse = parserOf(schema)
  return { parser: isAccepted(() => parse(body)), document: committedSchema(schema).safeParse(body).success }
}

function isAccepted(action: () => unknown): boolean {
  try {
    action()
    return true
  } catch {
    return false
  }
}

const message = (members: object) => ({ messages: [{ role: 'user', content: 'hi', ...members }] })
const LINK = 'https://files.example.com/a.png'

const ACCEPTED: readonly [Kind, object][] = [
  ['video', {}],
  [
    'video',
    { duration: 3, resolution: '1080p', aspect_ratio: '9:21', generate_audio: true, watermark: false, fps: 240 },
  ],
  ['video', { image_urls: [LINK, 'HTTPS://x.example/', 'data:image/png;base64,AAAA'] }],
  ['video', { image_url: '' }],
  ['video', { image_url: LINK, video_urls: [LINK], audio_urls: [LINK] }],
  ['video', { callback_url: 'https://hooks.example.com/x?y=1', unknown: { more: 1 } }],
  ['video', { prompt: '猫'.repeat(2500) }],
  ['video', { prompt: '🙂'.repeat(5000) }],
  ['chat', { stream: null, temperature: null, max_tokens: null, n: null, stop: null, tools: null, user: null }],
  [
    'chat',
    { temperature: 0, top_p: 1, n: 128, stop: ['a', 'b', 'c', 'd'], presence_penalty: -2, frequency_penalty: 2 },
  ],
  ['chat', { max_tokens: 1, max_completion_tokens: 16_384, stream: true, stream_options: { include_usage: true } }],
  [
    'chat',
    {
      tools: [{ type: 'function', function: { name: 'a.b:c-d_e' } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
    },
  ],
  ['chat', { seed: 7, response_format: { type: 'json_object' } }],
  [
    'chat',
    message({
      content: [
        { type: 'text', text: 'a' },
        { type: 'file', file: { file_id: 'f' } },
      ],
    }),
  ],
  [
    'chat',
    message({ role: 'assistant', content: null, tool_calls: [{ id: 'c', function: { name: 'f', arguments: '' } }] }),
  ],
  ['chat', message({ role: 'tool', tool_call_id: 'c' })],
  ['response', { input: HI, stream: null, max_output_tokens: 16_384, temperature: 2, more: 1 }],
  ['message', { system: 'Be brief.', stop_sequences: ['x'], tools: [{ name: 'f', input_schema: {} }], more: 1 }],
  ['count', { system: [{ type: 'text', text: 'x' }], tool_choice: { type: 'auto' }, more: 1 }],
  ['completion', { prompt: ['', 'b'], echo: true, suffix: '', logprobs: 0, best_of: 1, max_tokens: 1 }],
  ['completion', { prompt: Array(128).fill('a'), n: null, stop: 'x', max_completion_tokens: null }],
  ['embedding', { input: ['a', 'b'], encoding_format: 'base64', dimensions: 1536, user: 'u' }],
  ['embedding', { input: [0, 1, 2], encoding_format: null, dimensions: null }],
  ['embedding', { input: [[0], [1, 2]], truncate: true }],
  ['image', { n: 1, size: '1792x1024', quality: 'hd', style: 'natural', response_format: 'b64_json', user: 'u' }],
  ['image', { n: null, size: null, quality: null, style: null, response_format: null, stream: false, extra: 1 }],
]

const REFUSED: readonly [Kind, object][] = [
  ['video', { model: undefined }],
  ['video', { prompt: undefined }],
  ['video', { prompt: ' \n' }],
  ['video', { prompt: 'a'.repeat(5001) }],
  ['video', { duration: 2 }],
  ['video', { duration: 16 }],
  ['video', { duration: 5.5 }],
  ['video', { duration: '5' }],
  ['video', { resolution: '4K' }],
  ['video', { aspect_ratio: '2:1' }],
  ['video', { generate_audio: 'yes' }],
  ['video', { fps: 0 }],
  ['video', { image_urls: LINK }],
  ['video', { image_urls: ['ftp://files.example.com/a.png'] }],
  ['video', { image_urls: Array(17).fill(LINK) }],
  ['video', { image_url: 'a.png' }],
  ['video', { video_urls: ['data:video/mp4;base64,AAAA'] }],
  ['video', { callback_url: 7 }],
  ['video', { callback_url: `https://hooks.example.com/${'a'.repeat(2048)}` }],
  ['chat', { messages: [] }],
  ['chat', { messages: ['hi'] }],
  ['chat', message({ role: 'wizard' })],
  ['chat', message({ content: [] })],
  ['chat', message({ content: [{ text: 'no type' }] })],
  ['chat', { temperature: 2.1 }],
  ['chat', { top_p: -0.1 }],
  ['chat', { n: 129 }],
  ['chat', { n: 1.5 }],
  ['chat', { max_tokens: 0 }],
  ['chat', { stop: ['a', 'b', 'c', 'd', 'e'] }],
  ['chat', { stream: 'yes' }],
  ['chat', { user: 7 }],
  ['chat', { tools: [{ type: 'retrieval' }] }],
  ['chat', { tools: [{ type: 'function', function: { name: 'no spaces' } }] }],
  ['chat', { tool_choice: 'maybe' }],
  ['response', { input: undefined }],
  ['response', { input: 7 }],
  ['response', { max_output_tokens: 0 }],
  ['response', { stream: 'yes' }],
  ['message', { max_tokens: undefined }],
  ['message', { messages: [] }],
  ['message', message({ role: 'wizard' })],
  ['message', { temperature: 2.1 }],
  ['count', { messages: undefined }],
  ['count', message({ content: 7 })],
  ['count', { tool_choice: 'auto' }],
  ['completion', { prompt: undefined }],
  ['completion', { prompt: [] }],
  ['completion', { prompt: [1, 2] }],
  ['completion', { prompt: Array(129).fill('a') }],
  ['completion', { logprobs: 5 }],
  ['completion', { max_tokens: 0 }],
  ['embedding', { input: undefined }],
  ['embedding', { input: '' }],
  ['embedding', { input: [] }],
  ['embedding', { input: ['a', ''] }],
  ['embedding', { input: [1.5] }],
  ['embedding', { input: [[]] }],
  ['embedding', { input: Array(2049).fill('a') }],
  ['embedding', { encoding_format: 'hex' }],
  ['embedding', { dimensions: 0 }],
  ['image', { prompt: ' ' }],
  ['image', { n: 0 }],
  ['image', { response_format: 'png' }],
  ['image', { stream: true }],
]

const shown = ([kind, members]: readonly [Kind, object]) =>
  [kind, JSON.stringify(members).slice(0, 100), members] as const

describe('the documented schema of a request', () => {
  it.each(ACCEPTED.map(shown))('takes what the gateway takes: %s with %s', (kind, _, members) => {
    expect(judgements(kind, members)).toEqual({ parser: true, document: true })
  })

  it.each(REFUSED.map(shown))('refuses what the gateway refuses: %s with %s', (kind, _, members) => {
    expect(judgements(kind, members)).toEqual({ parser: false, document: false })
  })
  it('is tried for the body of every operation', () => {
    const bodies = new Set(ROUTES.flatMap(({ input }: Route) => (input === undefined ? [] : [input])))
    for (const rows of [ACCEPTED, REFUSED]) {
      expect(new Set(rows.map(([kind]): string => BODIES[kind].schema))).toEqual(bodies)
    }
  })
})
