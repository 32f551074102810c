import { describe, expect, it } from '@jest/globals'
import { parseChatRequest } from '#core/api/chat-request.ts'
import type { OutputLimitField } from '#core/catalogue/parameters.ts'
import { upstreamChatBody } from '#lambdas/relay/protocols/chat.ts'
import { askForUsage, type ChatChannel } from '#lambdas/relay/protocols/chat-stream.ts'
import { measureCompletionCalls, prepareCompletionCalls } from '#lambdas/relay/protocols/completion.ts'
import { shippedCatalogue } from '../../core/shipped-catalogue.ts'
import { readFixture } from '../../upstream/providers/upstream-fixture.ts'
import { CHAT_MODEL, chatCall, completionRequest, PLAIN_CHANNEL } from './completing.ts'
import { mapExchanges } from './completion-fixture.ts'

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

describe('upstreamChatBody: the limit of the output', () => {
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

describe('askForUsage', () => {
  it.each([undefined, 'null', '{}', '{"include_usage":false}', '{"include_usage":false,"include_usage":false}'])(
    'asks for the usage where the client said %s',
    (options) => {
      expect(JSON.parse(askForUsage(options))).toEqual({ include_usage: true })
    },
  )

  it('keeps the other options of the client, byte for byte', () => {
    expect(askForUsage('{"include_obfuscation": 1.0}')).toContain('"include_obfuscation": 1.0')
  })
})

describe('prepareCompletionCalls', () => {
  it('makes the chat calls of the fixture, whole', () => {
    const { model: _, ...members } = Object(readFixture('oai_completions_map').request.body)
    const calls = [0, 1].map((promptIndex) => chatCall(members, { promptIndex }))
    expect(calls).toStrictEqual(mapExchanges().map(({ request }) => ({ ...request, model: 'upstream-chat' })))
  })

  it.each([{}, { n: 1 }])('asks for one completion without n, which not every upstream knows (%j)', (members) => {
    expect(chatCall(members)).toStrictEqual({
      model: 'upstream-chat',
      messages: [{ role: 'user', content: 'Once' }],
      max_tokens: 16,
    })
  })

  it('relays every listed field and those that the channel adds, and none that chat has no word for', () => {
    const relayed = { temperature: 0.5, top_p: 1, stop: ['\n'], presence_penalty: 1, user: 'u', seed: 3 }
    const dropped = {
      echo: true,
      suffix: 'x',
      logprobs: 0,
      best_of: 1,
      messages: [],
      stream_options: {},
      stream: false,
    }
    const call = { model: 'upstream-chat', messages: [{ role: 'user', content: 'Once' }], max_tokens: 9 }
    const members = { ...relayed, ...dropped, top_k: 4, max_tokens: 9 }
    expect(chatCall(members)).toStrictEqual({ ...call, ...relayed })
    expect(
      chatCall(members, { channel: { pass_members: { chat: ['top_k'], embeddings: [], images: [] } } }),
    ).toStrictEqual({ ...call, ...relayed, top_k: 4 })
  })

  it('always asks a stream for its usage', () => {
    const stream = { stream: true, stream_options: { include_usage: true } }
    expect(chatCall({ stream: true })).toMatchObject(stream)
    expect(chatCall({ stream: true, stream_options: { include_usage: false } })).toMatchObject(stream)
  })

  it('keeps what else the client wants of its stream', () => {
    const streamed = { stream: true, stream_options: { include_obfuscation: false, Include_Usage: false } }
    expect(chatCall(streamed)).toHaveProperty('stream_options', { include_obfuscation: false, include_usage: true })
  })

  it('bounds the tokens by the newer member where the client wrote that alone', () => {
    expect(chatCall({ max_completion_tokens: 9 })).not.toHaveProperty('max_tokens')
    expect(chatCall({ max_completion_tokens: 9 })).toHaveProperty('max_completion_tokens', 9)
    expect(chatCall({ max_completion_tokens: 9, max_tokens: 8 })).not.toHaveProperty('max_completion_tokens')
  })

  it('bounds the tokens under the name that the channel wants', () => {
    const newer = { ...PLAIN_CHANNEL, output_limit_member: 'max_completion_tokens' as const }
    expect(chatCall({ max_tokens: 9 }, { channel: newer })).not.toHaveProperty('max_tokens')
    expect(chatCall({ max_tokens: 9 }, { channel: newer })).toHaveProperty('max_completion_tokens', 9)
    expect(chatCall({}, { channel: newer })).toHaveProperty('max_completion_tokens', 16)
    const older = { ...PLAIN_CHANNEL, output_limit_member: 'max_tokens' as const }
    expect(chatCall({ max_completion_tokens: 9 }, { channel: older })).toMatchObject({ max_tokens: 9 })
  })

  it('keeps the bytes of what it relays: a seed of 64 bits stays whole', () => {
    const text = `{ "seed" : 9007199254740993 ,"model":"${CHAT_MODEL}", "\\u0070rompt":"Once", "temperature":1.0 }`
    const write = prepareCompletionCalls(text, completionRequest({}))
    expect(write({ promptIndex: 0, model: 'up', channel: PLAIN_CHANNEL }).text).toBe(
      '{"model":"up","messages":[{"role":"user","content":"Once"}],"max_tokens":16,"seed":9007199254740993,"temperature":1.0}',
    )
  })

  it('writes any prompt and any model id as JSON', () => {
    const prompt = 'a "quoted"\n\u2028 😀 \ud800'
    const write = prepareCompletionCalls('{}', completionRequest({ prompt }))
    const written = write({ promptIndex: 0, model: 'a"b', channel: PLAIN_CHANNEL }).text
    expect(JSON.parse(written)).toMatchObject({ model: 'a"b', messages: [{ role: 'user', content: prompt }] })
    expect(written.isWellFormed()).toBe(true)
  })
})

describe('measureCompletionCalls', () => {
  it('says of each call how long it is when it is written, though it writes none', () => {
    const prompt = ['', 'a "quoted"\n\u2028 😀 \ud800', 'é'.repeat(1000)]
    const text = `{"model":"${CHAT_MODEL}","user":"é😀","stop":["\\n"],"stream":true,"top_k":4}`
    const channel = { ...PLAIN_CHANNEL, output_limit_member: 'max_completion_tokens' as const }
    for (const n of [1, 2]) {
      const request = completionRequest({ prompt, n, stream: true })
      const write = prepareCompletionCalls(text, request)
      const written = prompt.map((_, promptIndex) => write({ promptIndex, model: CHAT_MODEL, channel }).text)
      const { common, calls } = measureCompletionCalls(text, request, channel)
      expect(calls).toStrictEqual(written.map((call) => Buffer.byteLength(call)))
      expect(common).toBeGreaterThan(Buffer.byteLength('"user":"é😀","stop":["\\n"]'))
    }
  })

  it('goes through the fields that all calls share once, however many prompts there are', () => {
    let reads = 0
    const channel = {
      get pass_members() {
        reads += 1
        return PLAIN_CHANNEL.pass_members
      },
    }
    const prompt = Array.from({ length: 128 }, () => 'a')
    measureCompletionCalls('{"user":"u"}', completionRequest({ prompt }), channel)
    expect(reads).toBe(1)
  })
})
