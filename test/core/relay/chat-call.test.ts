import { describe, expect, it } from 'vitest'
import { parseChatRequest } from '#core/api/chat-request.ts'
import type { OutputLimitField } from '#core/catalogue/parameters.ts'
import { type ChatChannel, upstreamChatBody } from '#core/relay/chat-call.ts'
import { shippedCatalogue } from '../shipped-catalogue.ts'
import { CHAT_MODEL, PLAIN_CHANNEL } from './completing.ts'

type Call = { readonly channel?: ChatChannel; readonly unsaid?: number }

/** The body for the upstream `up`. @param unsaid the model's own limit of an answer whose client says none */
function call(text: string, { channel = PLAIN_CHANNEL, unsaid }: Call = {}) {
  const body = { messages: [{ role: 'user', content: 'hi' }], ...JSON.parse(text) }
  const chat = parseChatRequest(body, { catalogue: shippedCatalogue, allowedModels: null, bodyBytes: text.length })
  const model = unsaid === undefined ? chat.model : { ...chat.model, default_max_output_tokens: unsaid }
  return upstreamChatBody(text, { upstreamModel: 'up', chat: { ...chat, model }, channel })
}

const wanting = (output_limit_member: OutputLimitField) => ({ ...PLAIN_CHANNEL, output_limit_member })
const MODEL = `"model":"${CHAT_MODEL}"`

describe('upstreamChatBody', () => {
  it('changes the model and no other byte', () => {
    const body = `{ "metadata":{"model":"x"}, "temperature":1.0, "model" : "${CHAT_MODEL}", "seed":9007199254740993 }`
    const { text, ignored } = call(body)
    expect(text).toBe(body.replace(CHAT_MODEL, 'up'))
    expect(ignored).toStrictEqual([])
  })

  it('asks for the usage of a stream and keeps what else the client wants of it', () => {
    const streamOptions = { include_usage: false, include_obfuscation: false, Include_Usage: false, extra: [1] }
    const body = JSON.stringify({ model: CHAT_MODEL, stream: true, stream_options: streamOptions })
    const { text, ignored } = call(body)
    expect(text).toBe(
      '{"model":"up","stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}}',
    )
    expect(ignored).toStrictEqual(['stream_options.Include_Usage', 'stream_options.extra'])
    const channel = { pass_members: { chat: ['stream_options.extra'], embeddings: [], images: [] } }
    expect(JSON.parse(call(body, { channel }).text).stream_options).toStrictEqual({
      include_usage: true,
      include_obfuscation: false,
      extra: [1],
    })
  })

  it('appends the wish where the client has none', () => {
    expect(call(`{${MODEL},"stream":true}`).text).toBe(
      '{"model":"up","stream":true,"stream_options":{"include_usage":true}}',
    )
  })
})

describe('the limit of the output', () => {
  it.each<[string, OutputLimitField | undefined, string]>([
    ['"max_tokens":1e2', undefined, '"max_tokens":1e2'],
    ['"max_completion_tokens":9', undefined, '"max_completion_tokens":9'],
    ['"max_tokens":9,"max_completion_tokens":7', undefined, '"max_tokens":9,"max_completion_tokens":7'],
    ['"max_tokens":1e2', 'max_tokens', '"max_tokens":1e2'],
    ['"max_tokens":9', 'max_completion_tokens', '"max_completion_tokens":9'],
    ['"max_completion_tokens":9', 'max_tokens', '"max_tokens":9'],
    ['"max_tokens":9,"max_completion_tokens":7', 'max_tokens', '"max_tokens":7'],
    ['"max_tokens":9,"max_completion_tokens":7', 'max_completion_tokens', '"max_completion_tokens":7'],
    ['"max_tokens":null,"max_completion_tokens":7', 'max_tokens', '"max_tokens":7'],
    ['"max_tokens":9,"max_completion_tokens":null', 'max_tokens', '"max_tokens":9'],
  ])('of a client that wrote %s reaches a channel that wants %s as %s', (written, wanted, sent) => {
    const channel = wanted === undefined ? PLAIN_CHANNEL : wanting(wanted)
    for (const unsaid of [undefined, 50]) {
      const { text } = call(`{${MODEL},${written}}`, unsaid === undefined ? { channel } : { channel, unsaid })
      expect(text).toBe(`{"model":"up",${sent}}`)
    }
  })

  it.each<[string, OutputLimitField | undefined, string]>([
    ['', undefined, ',"max_tokens":50'],
    ['', 'max_tokens', ',"max_tokens":50'],
    ['', 'max_completion_tokens', ',"max_completion_tokens":50'],
    [',"max_tokens":null', undefined, ',"max_tokens":50'],
    [',"max_tokens":null,"max_completion_tokens":null', 'max_completion_tokens', ',"max_completion_tokens":50'],
    [',"max_completion_tokens":null', undefined, ',"max_tokens":50'],
  ])('of a model is sent where the client wrote none: {...%s} to a channel that wants %s', (written, wanted, sent) => {
    const channel = wanted === undefined ? PLAIN_CHANNEL : wanting(wanted)
    expect(call(`{${MODEL}${written}}`, { channel, unsaid: 50 }).text).toBe(`{"model":"up"${sent}}`)
    expect(call(`{${MODEL}${written}}`, { channel }).text).toBe(`{"model":"up"${written}}`)
  })
})
