import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool as langchainTool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { APICallError, generateText, isStepCount, Output, streamText, tool } from 'ai'
import * as z from 'zod'
import { AGENT_MODELS, startAgentGateway } from './agent-gateway.ts'
import type { Gateway } from './start-gateway.ts'

let gateway: Gateway
let anthropic: Anthropic
beforeAll(async () => {
  gateway = await startAgentGateway()
  anthropic = new Anthropic({ baseURL: gateway.url, apiKey: 'e2e-key', authToken: null, maxRetries: 0 })
})
afterAll(async () => {
  await gateway.stop()
})

const CITY = z.object({ city: z.string() })
const SCHEMA = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] }
const TOOLS = [{ name: 'get_weather', description: 'The weather of a city', input_schema: SCHEMA }]
const WEATHER = 'Weather in Oslo [tools:2]'

describe.each(AGENT_MODELS)('@anthropic-ai/sdk, model %s', (model) => {
  const ask = (content: string, fields: object = {}) => ({
    model,
    max_tokens: 200,
    messages: [{ role: 'user' as const, content }],
    ...fields,
  })

  it('create-message 200: creates one', async () => {
    const message = await anthropic.messages.create({ ...ask('hello'), system: 'Be brief' })
    expect(message).toMatchObject({ model, role: 'assistant', stop_reason: 'end_turn', content: [{ type: 'text' }] })
    expect(message.usage).toMatchObject({ input_tokens: expect.any(Number), cost: expect.any(Number) })
    expect(message._request_id).toEqual(expect.any(String))
  })

  it('create-message 200: streams text and thinking that come to the whole message', async () => {
    const stream = anthropic.messages.stream(ask('hello [reasoning]'))
    let text = ''
    let usage: object = {}
    stream.on('text', (delta) => {
      text += delta
    })
    // The helper keeps only the counts that it knows of a usage.
    stream.on('streamEvent', (event) => {
      usage = event.type === 'message_delta' ? event.usage : usage
    })
    const message = await stream.finalMessage()
    expect(message.content.map(({ type }) => type)).toStrictEqual(['thinking', 'text'])
    expect(await stream.finalText()).toBe(text)
    expect(usage).toMatchObject({ output_tokens: message.usage.output_tokens, cost: expect.any(Number) })
  })

  it('create-message 200: goes through a loop of parallel tools', async () => {
    const first = await anthropic.messages.stream(ask(WEATHER, { tools: TOOLS })).finalMessage()
    const calls = first.content.filter((block) => block.type === 'tool_use')
    expect(first.stop_reason).toBe('tool_use')
    expect(calls.map(({ input }) => input)).toStrictEqual([{ city: 'Oslo' }, { city: 'Oslo' }])
    const results = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: 'sunny' }))
    const second = await anthropic.messages.create({
      ...ask(WEATHER, { tools: TOOLS }),
      messages: [
        { role: 'user', content: WEATHER },
        { role: 'assistant', content: first.content },
        { role: 'user', content: results },
      ],
    })
    expect(second.content).toMatchObject([{ type: 'text', text: expect.stringContaining('sunny') }])
  })

  it('create-message 400: of a thread, which no upstream gets, makes the tool runner send the whole conversation', async () => {
    const sent: { readonly thread?: unknown; readonly messages: readonly unknown[] }[] = []
    const watched = anthropic.withOptions({
      fetch: async (url, init) => {
        sent.push(JSON.parse(String(init?.body)))
        return await fetch(url, init)
      },
    })
    const runTool = { ...TOOLS[0], type: 'custom' as const, run: () => 'sun', parse: (input: unknown) => input }
    const runner = watched.beta.messages.toolRunner({ ...ask('Weather in Oslo [tools:1]'), tools: [runTool] } as never)
    await runner.runUntilDone()
    expect(sent.map(({ thread, messages }) => [thread, messages.length])).toStrictEqual([
      [{ type: 'create' }, 1],
      [undefined, 1],
      [undefined, 3],
    ])
  })

  it('create-message 200: stops at max_tokens', async () => {
    expect(await anthropic.messages.create({ ...ask('hello'), max_tokens: 3 })).toMatchObject({
      stop_reason: 'max_tokens',
      usage: { output_tokens: 3 },
    })
  })

  it('count-message-tokens 200: counts', async () => {
    const { max_tokens: _, ...counted } = ask('hello')
    expect((await anthropic.messages.countTokens(counted)).input_tokens).toBeGreaterThan(0)
  })

  it.each([
    [400, Anthropic.BadRequestError, 'invalid_request_error'],
    [429, Anthropic.RateLimitError, 'rate_limit_error'],
    [500, Anthropic.InternalServerError, 'api_error'],
  ])('create-message %i: throws its class of error', async (status, ErrorClass, type) => {
    const error: unknown = await anthropic.messages.create(ask(`[error:${status}]`)).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(ErrorClass)
    expect(error).toMatchObject({ type, requestID: expect.any(String) })
  })

  it('create-message 404: throws for a model that does not exist', async () => {
    const error: unknown = await anthropic.messages.create({ ...ask('hi'), model: 'nothing' }).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(Anthropic.NotFoundError)
  })

  it('create-message 200: throws for a stream that breaks off', async () => {
    const stream = anthropic.messages.stream(ask('hello [long:20][cut:12]'))
    await expect(stream.finalMessage()).rejects.toThrow(Anthropic.APIError)
  })
})

const weather = tool({
  description: 'The weather of a city',
  inputSchema: CITY,
  execute: async ({ city }) => `12 degrees in ${city}`,
})

describe.each(['openai', 'anthropic'] as const)('@ai-sdk/%s', (name) => {
  const settings = (id: string) => {
    const options = { baseURL: `${gateway.url}/v1`, apiKey: 'e2e-key' }
    const model = name === 'openai' ? createOpenAI(options)(id) : createAnthropic(options)(id)
    return { model, maxOutputTokens: 200 }
  }

  describe.each(AGENT_MODELS)('model %s', (id) => {
    it('generates text with its usage', async () => {
      const { text, usage, finishReason } = await generateText({ ...settings(id), prompt: 'Say hi' })
      expect({ text, finishReason }).toStrictEqual({ text: expect.stringContaining('Say hi'), finishReason: 'stop' })
      expect(usage).toMatchObject({ inputTokens: expect.any(Number), outputTokens: expect.any(Number) })
    })

    it('streams reasoning and text in pieces that come to the whole text', async () => {
      const prompt = 'Tell me a story [reasoning]'
      const result = streamText({ ...settings(id), prompt })
      const types = new Set<string>()
      let text = ''
      for await (const part of result.fullStream) {
        types.add(part.type)
        text += part.type === 'text-delta' ? part.text : ''
      }
      expect(types).toContain('finish')
      expect(types).not.toContain('error')
      expect(text).toBe((await generateText({ ...settings(id), prompt })).text)
      expect((await result.usage).outputTokens).toBeGreaterThan(0)
    })

    it('goes through a loop of parallel tools, streamed', async () => {
      const result = streamText({
        ...settings(id),
        prompt: WEATHER,
        tools: { weather },
        stopWhen: isStepCount(3),
      })
      expect(await result.text).toContain('12 degrees in Oslo')
      const [first] = await result.steps
      expect(first?.toolCalls).toMatchObject([
        { toolName: 'weather', input: { city: 'Oslo' } },
        { toolName: 'weather', input: { city: 'Oslo' } },
      ])
    })

    it('generates an object', async () => {
      const { output } = await generateText({
        ...settings(id),
        prompt: 'I am in Oslo',
        output: Output.object({ schema: CITY }),
      })
      expect(output).toStrictEqual({ city: 'Oslo' })
    })

    it('throws errors with their messages', async () => {
      const error: unknown = await generateText({ ...settings(id), prompt: '[error:400]', maxRetries: 0 }).catch(
        (thrown) => thrown,
      )
      expect(APICallError.isInstance(error)).toBe(true)
      expect(error).toMatchObject({ statusCode: 400, isRetryable: false })
    })
  })
})

describe.each(AGENT_MODELS)('@langchain/openai with useResponsesApi, model %s', (model) => {
  const chat = () =>
    new ChatOpenAI({
      model,
      useResponsesApi: true,
      apiKey: 'e2e-key',
      maxRetries: 0,
      configuration: { baseURL: `${gateway.url}/v1` },
    })

  it('invokes and streams', async () => {
    const whole = await chat().invoke('Say hi')
    expect(whole.text).toContain('Say hi')
    expect(whole.usage_metadata).toMatchObject({ output_tokens: expect.any(Number) })
    let text = ''
    for await (const chunk of await chat().stream('Say hi')) {
      text += chunk.text
    }
    expect(text).toBe(whole.text)
  })

  it('goes through a loop of parallel tools', async () => {
    const getWeather = langchainTool(({ city }) => `12 degrees in ${city}`, { name: 'get_weather', schema: CITY })
    const bound = chat().bindTools([getWeather])
    const asked = new HumanMessage(WEATHER)
    const first = await bound.invoke([asked])
    expect(first.tool_calls).toMatchObject([{ args: { city: 'Oslo' } }, { args: { city: 'Oslo' } }])
    const results = (first.tool_calls ?? []).map(
      ({ id }) => new ToolMessage({ content: '12 degrees', tool_call_id: id ?? '' }),
    )
    expect((await bound.invoke([asked, first, ...results])).text).toContain('12 degrees')
  })

  it('generates an object', async () => {
    const structured = chat().withStructuredOutput(CITY, { method: 'jsonSchema' })
    expect(await structured.invoke('I am in Oslo')).toStrictEqual({ city: 'Oslo' })
  })
})
