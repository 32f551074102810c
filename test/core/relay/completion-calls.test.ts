import { describe, expect, it } from 'vitest'
import { measureCompletionCalls, prepareCompletionCalls } from '#core/relay/chat-call.ts'
import { readFixture } from '../../upstream/providers/upstream-fixture.ts'
import { CHAT_MODEL, chatCall, completionRequest, PLAIN_CHANNEL } from './completing.ts'
import { mapExchanges } from './completion-fixture.ts'

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
