import { describe, expect, it } from '@jest/globals'
import { upstreamChatBody } from '#core/relay/chat-call.ts'
import { listedFields, passingFields } from '#core/relay/passing-fields.ts'

const plain = { stream: false, streamOptions: {} }
const passing = listedFields('chat')

describe('upstreamChatBody', () => {
  it('changes the model and no other byte', () => {
    const body = '{ "metadata":{"model":"x"}, "temperature":1.0, "model" : "chat-a", "seed":9007199254740993 }'
    const { text, ignored } = upstreamChatBody(body, { upstreamModel: 'up', chat: plain, passing })
    expect(text).toBe(body.replace('"chat-a"', '"up"'))
    expect(ignored).toStrictEqual([])
  })

  it('asks for the usage of a stream and keeps what else the client wants of it', () => {
    const streamOptions = { include_usage: false, include_obfuscation: false, Include_Usage: false, extra: [1] }
    const chat = { stream: true, streamOptions }
    const body = JSON.stringify({ model: 'chat-a', stream: true, stream_options: streamOptions })
    const strict = upstreamChatBody(body, { upstreamModel: 'up', chat, passing })
    expect(strict.text).toBe(
      '{"model":"up","stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}}',
    )
    expect(strict.ignored).toStrictEqual(['stream_options.Include_Usage', 'stream_options.extra'])
    const generous = passingFields('chat', ['stream_options.extra'])
    const { text } = upstreamChatBody(body, { upstreamModel: 'up', chat, passing: generous })
    expect(JSON.parse(text).stream_options).toStrictEqual({
      include_usage: true,
      include_obfuscation: false,
      extra: [1],
    })
  })

  it('appends the wish where the client has none', () => {
    const chat = { stream: true, streamOptions: {} }
    expect(upstreamChatBody('{"model":"chat-a","stream":true}', { upstreamModel: 'up', chat, passing }).text).toBe(
      '{"model":"up","stream":true,"stream_options":{"include_usage":true}}',
    )
  })
})
