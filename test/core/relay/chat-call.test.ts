import { describe, expect, it } from '@jest/globals'
import { upstreamChatBody } from '#core/relay/chat-call.ts'

const plain = { stream: false, streamOptions: {} }

describe('upstreamChatBody', () => {
  it('changes the model and no other byte', () => {
    const body = '{ "messages":[{"model":"x"}], "temperature":1.0, "model" : "chat-a", "seed":9007199254740993 }'
    expect(upstreamChatBody(body, { upstreamModel: 'up', chat: plain })).toBe(body.replace('"chat-a"', '"up"'))
  })

  it('asks for the usage of a stream and keeps what else the client wants of it', () => {
    const chat = { stream: true, streamOptions: { include_usage: false, extra: [1] } }
    const body = '{"model":"chat-a","stream":true,"stream_options":{"include_usage":false,"extra":[1]}}'
    expect(upstreamChatBody(body, { upstreamModel: 'up', chat })).toBe(
      '{"model":"up","stream":true,"stream_options":{"include_usage":true,"extra":[1]}}',
    )
  })

  it('appends the wish where the client has none', () => {
    const chat = { stream: true, streamOptions: {} }
    expect(upstreamChatBody('{"model":"chat-a","stream":true}', { upstreamModel: 'up', chat })).toBe(
      '{"model":"up","stream":true,"stream_options":{"include_usage":true}}',
    )
  })
})
