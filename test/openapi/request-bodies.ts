import { parseChatRequest } from '#core/api/chat-request.ts'
import { parseCompletionRequest } from '#core/api/completion-request.ts'
import { parseEmbeddingRequest } from '#core/api/embedding-request.ts'
import { parseImageRequest } from '#core/api/image-request.ts'
import { parseCountTokensRequest, parseMessagesRequest } from '#core/api/messages-request.ts'
import { parseResponsesRequest } from '#core/api/responses-request.ts'
import { parseVideoJobRequest } from '#core/api/video-job-request.ts'
import { shippedCatalogue } from '../core/shipped-catalogue.ts'

const offered = { catalogue: shippedCatalogue, allowedModels: null }
const sized = { ...offered, bodyBytes: 1000 }

const HI = [{ role: 'user', content: 'hi' }]

/** Each kind of body: its schema in the document, the least that is accepted, and what the gateway does with it before anything else. */
export const BODIES = {
  video: {
    schema: 'CreateVideoJobRequest',
    least: { model: 'famA-2', prompt: 'a cat' },
    parse: (body: unknown) => parseVideoJobRequest(body, offered),
  },
  chat: {
    schema: 'CreateChatCompletionRequest',
    least: { model: 'chat-default', messages: HI },
    parse: (body: unknown) => parseChatRequest(body, sized),
  },
  response: {
    schema: 'CreateResponseRequest',
    least: { model: 'chat-default', input: 'hi' },
    parse: (body: unknown) => parseResponsesRequest(body, sized),
  },
  message: {
    schema: 'CreateMessageRequest',
    least: { model: 'chat-default', messages: HI, max_tokens: 5 },
    parse: (body: unknown) => parseMessagesRequest(body, sized),
  },
  count: {
    schema: 'CountMessageTokensRequest',
    least: { model: 'chat-default', messages: HI },
    parse: (body: unknown) => parseCountTokensRequest(body, sized),
  },
  completion: {
    schema: 'CreateCompletionRequest',
    least: { model: 'chat-default', prompt: 'hi' },
    parse: (body: unknown) => parseCompletionRequest(body, offered),
  },
  embedding: {
    schema: 'CreateEmbeddingRequest',
    least: { model: 'text-embedding-3-small', input: 'hi' },
    parse: (body: unknown) => parseEmbeddingRequest(body, offered),
  },
  image: {
    schema: 'CreateImageRequest',
    least: { model: 'image-v3', prompt: 'a cat' },
    parse: (body: unknown) => parseImageRequest(body, offered),
  },
} as const

export type BodyKind = keyof typeof BODIES

/** The parser of the bodies of a schema. @throws TypeError where this file has none. */
export function parserOf(schema: string): (body: unknown) => unknown {
  const body = Object.values(BODIES).find((each) => each.schema === schema)
  if (body === undefined) {
    throw new TypeError(`no parser of ${schema}`)
  }
  return body.parse
}

const message = (members: object) => ({ messages: [{ role: 'user', content: 'hi', ...members }] })
const LINK = 'https://files.example.com/a.png'

/** What the least body may have besides. */
export const ACCEPTED: readonly [BodyKind, object][] = [
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

/** What no body may have. */
export const REFUSED: readonly [BodyKind, object][] = [
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
  ['message', { tools: [{ name: 'f', input_schema: 'x' }] }],
  ['message', { thread: { type: 'create' } }],
  ['message', { compaction: { type: 'summarize' } }],
  ['count', { thread: { type: 'continue', previous_message_id: 'msg_1' } }],
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
