import { describe, expect, it } from '@jest/globals'
import type * as z from 'zod'
import { parseChatRequest } from '#core/api/chat-request.ts'
import { parseCompletionRequest } from '#core/api/completion-request.ts'
import { parseEmbeddingRequest } from '#core/api/embedding-request.ts'
import { parseImageRequest } from '#core/api/image-request.ts'
import { parseVideoJobRequest } from '#core/api/video-job-request.ts'
import { shippedCatalogue } from '../core/shipped-catalogue.ts'
import { committedSchema } from './documented-answer.ts'

const context = { catalogue: shippedCatalogue, allowedModels: null }

/** A kind of body: its schema in the document, its parser, and the least that both accept. */
type Body = { readonly schema: () => z.ZodType; readonly parse: (body: unknown) => unknown; readonly least: object }

const BODIES = {
  video: {
    schema: () => committedSchema('CreateVideoJobRequest'),
    parse: (body) => parseVideoJobRequest(body, context),
    least: { model: 'famA-2', prompt: 'a cat' },
  },
  chat: {
    schema: () => committedSchema('CreateChatCompletionRequest'),
    parse: (body) => parseChatRequest(body, { ...context, bodyBytes: 1000 }),
    least: { model: 'chat-default', messages: [{ role: 'user', content: 'hi' }] },
  },
  completion: {
    schema: () => committedSchema('CreateCompletionRequest'),
    parse: (body) => parseCompletionRequest(body, context),
    least: { model: 'chat-default', prompt: 'hi' },
  },
  embedding: {
    schema: () => committedSchema('CreateEmbeddingRequest'),
    parse: (body) => parseEmbeddingRequest(body, context),
    least: { model: 'text-embedding-3-small', input: 'hi' },
  },
  image: {
    schema: () => committedSchema('CreateImageRequest'),
    parse: (body) => parseImageRequest(body, context),
    least: { model: 'image-v3', prompt: 'a cat' },
  },
} as const satisfies Readonly<Record<string, Body>>

type Kind = keyof typeof BODIES

function judgements(kind: Kind, members: object): { parser: boolean; document: boolean } {
  const { parse, schema, least } = BODIES[kind]
  // As it arrives: a member that is undefined is not there.
  const body: unknown = JSON.parse(JSON.stringify({ ...least, ...members }))
  return { parser: isAccepted(() => parse(body)), document: schema().safeParse(body).success }
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
  ['chat', { tools: [{ type: 'function', function: { name: 'a.b:c-d_e' } }], tool_choice: { type: 'function' } }],
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
})
