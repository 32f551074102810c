import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { APICallError, embedMany, generateImage, generateText, streamText, tool } from 'ai'
import * as z from 'zod'
import { type RelayGateway, startRelayGateway } from './relay-gateway.ts'

let gateway: RelayGateway
let provider: ReturnType<typeof createOpenAICompatible>

beforeAll(async () => {
  gateway = await startRelayGateway()
  provider = createOpenAICompatible({
    name: 'reelgate',
    baseURL: `${gateway.url}/v1`,
    apiKey: 'e2e-key',
    includeUsage: true,
  })
})
afterAll(async () => {
  await gateway.stop()
})

describe('the AI SDK, with nothing but base url and key', () => {
  it('generates text with its usage', async () => {
    const { text, usage, finishReason } = await generateText({ model: provider('chat-default'), prompt: 'Say hi' })
    expect(text.length).toBeGreaterThan(0)
    expect(finishReason).toBe('stop')
    expect(usage.outputTokens).toBeGreaterThan(0)
  })

  it('streams text in pieces, with its usage at the end', async () => {
    const result = streamText({ model: provider('chat-default'), prompt: 'Tell me a story' })
    const pieces: string[] = []
    for await (const piece of result.textStream) {
      pieces.push(piece)
    }
    const whole = await generateText({ model: provider('chat-default'), prompt: 'Tell me a story' })
    expect(pieces.length).toBeGreaterThan(3)
    expect(pieces.join('')).toBe(whole.text)
    expect((await result.usage).outputTokens).toBe(whole.usage.outputTokens)
  })

  it('calls a tool', async () => {
    const weather = tool({
      description: 'The weather of a city',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => `12 degrees in ${city}`,
    })
    const { toolCalls } = await generateText({
      model: provider('chat-default'),
      prompt: 'What is the weather in Oslo?',
      tools: { weather },
    })
    expect(toolCalls).toMatchObject([{ toolName: 'weather', input: { city: expect.any(String) } }])
  })

  it('completes a legacy prompt', async () => {
    const { text } = await generateText({ model: provider.completionModel('chat-default'), prompt: 'Once upon' })
    expect(text.length).toBeGreaterThan(0)
  })

  it('embeds strings', async () => {
    const model = provider.embeddingModel('text-embedding-3-small')
    const { embeddings } = await embedMany({ model, values: ['a city', 'a night', 'a city'] })
    expect(embeddings.map((each) => each.length)).toStrictEqual([1536, 1536, 1536])
    expect(embeddings[2]).toStrictEqual(embeddings[0])
    expect(embeddings[1]).not.toStrictEqual(embeddings[0])
  })

  it('generates an image', async () => {
    // As bytes: the SDK fetches no url on loopback, which is where the simulated upstream keeps its images.
    const { image } = await generateImage({
      model: provider.imageModel('image-v3'),
      prompt: 'a paper city',
      providerOptions: { reelgate: { response_format: 'b64_json' } },
    })
    expect(image.mediaType).toBe('image/png')
  })

  it('throws errors with their messages, and does not retry a refusal', async () => {
    const failing = generateText({ model: provider('nothing'), prompt: 'hi', maxRetries: 2 })
    const error = await failing.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(APICallError.isInstance(error)).toBe(true)
    expect(error).toMatchObject({ statusCode: 404, message: expect.stringContaining('nothing'), isRetryable: false })
  })
})
