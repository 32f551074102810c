import OpenAI, { RateLimitError } from 'openai'
import { describe, expect, it } from 'vitest'
import { withOpenAi } from './openai-client.ts'

const WEATHER = {
  type: 'function' as const,
  function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}

/** Runs `use` with the official client of this wire, pointed at a simulated upstream. */
async function withSdk(use: (openai: OpenAI) => Promise<void>): Promise<void> {
  await withOpenAi({}, ({ simulator }) =>
    use(new OpenAI({ baseURL: simulator.baseUrl, apiKey: 'TEST_KEY', maxRetries: 0 })),
  )
}

describe('the official client, against the OpenAI-style upstream', () => {
  const messages = [{ role: 'user' as const, content: 'What is the weather in Oslo?' }]

  it('chats, and sees the id of the request', async () => {
    await withSdk(async (openai) => {
      const completion = await openai.chat.completions.create({ model: 'chat-a', messages })
      expect(completion.choices[0]?.message.content).toContain('What is the weather in Oslo?')
      expect(completion._request_id).toMatch(/^req_/)
    })
  })

  it('reads a stream to its usage, also one in slices, with comments and CRLF', async () => {
    await withSdk(async (openai) => {
      const content = '[slices][comments][crlf][multi-data] Say hi'
      const stream = await openai.chat.completions.create({
        model: 'chat-a',
        messages: [{ role: 'user', content }],
        max_tokens: 8,
        stream: true,
        stream_options: { include_usage: true },
      })
      let text = ''
      let tokens: number | undefined
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? ''
        tokens = chunk.usage?.completion_tokens ?? tokens
      }
      expect([text.includes('“Say hi'), tokens]).toEqual([true, 8])
    })
  })

  it('collects a tool call from a stream', async () => {
    await withSdk(async (openai) => {
      const stream = openai.chat.completions.stream({ model: 'chat-a', messages, tools: [WEATHER] })
      const completion = await stream.finalChatCompletion()
      const call = completion.choices[0]?.message.tool_calls?.[0]
      expect([completion.choices[0]?.finish_reason, call?.type === 'function' && call.function]).toMatchObject([
        'tool_calls',
        { name: 'get_weather', arguments: '{"city":"Oslo"}' },
      ])
    })
  })

  it('throws when a stream fails in the middle, and its own class for a refusal', async () => {
    await withSdk(async (openai) => {
      const say = (content: string) => [{ role: 'user' as const, content }]
      const stream = await openai.chat.completions.create({
        model: 'chat-a',
        messages: say('[error-mid]'),
        stream: true,
      })
      const read = async () => {
        for await (const _ of stream) {
          // Only its end matters.
        }
      }
      await expect(read()).rejects.toThrow('The server had an error')
      await expect(openai.chat.completions.create({ model: 'chat-a', messages: say('[error:429]') })).rejects.toThrow(
        RateLimitError,
      )
    })
  })

  it('embeds: its own base64 and plain numbers are the same', async () => {
    await withSdk(async (openai) => {
      const asked = { model: 'text-embedding-3-small', input: ['a fox', 'a cat'], dimensions: 8 }
      const packed = await openai.embeddings.create(asked)
      const plain = await openai.embeddings.create({ ...asked, encoding_format: 'float' })
      expect(packed.data.map(({ embedding }) => [...embedding])).toEqual(plain.data.map(({ embedding }) => embedding))
      expect(packed.data[0]?.embedding).toHaveLength(8)
    })
  })

  it('makes an image, completes a text and lists models', async () => {
    await withSdk(async (openai) => {
      const images = await openai.images.generate({ model: 'image-v3', prompt: 'a fox', size: '1024x1024' })
      expect((await fetch(images.data?.[0]?.url ?? '')).headers.get('content-type')).toBe('image/png')
      const completion = await openai.completions.create({ model: 'chat-a', prompt: 'Once', max_tokens: 3 })
      expect([completion.choices[0]?.finish_reason, completion.usage?.completion_tokens]).toEqual(['length', 3])
      const models = await openai.models.list()
      expect(models.data.map(({ id }) => id)).toContain('image-v3')
    })
  })
})
