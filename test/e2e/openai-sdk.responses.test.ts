import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import OpenAI from 'openai'
import type { FunctionTool, ResponseFunctionToolCall } from 'openai/resources/responses/responses'
import { AGENT_MODELS, startAgentGateway } from './agent-gateway.ts'
import type { Gateway } from './start-gateway.ts'

let gateway: Gateway
let client: OpenAI
beforeAll(async () => {
  gateway = await startAgentGateway()
  client = new OpenAI({ apiKey: 'e2e-key', baseURL: `${gateway.url}/v1`, maxRetries: 0 })
})
afterAll(async () => {
  await gateway.stop()
})

const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const TOOLS: FunctionTool[] = [{ type: 'function', name: 'get_weather', parameters: SCHEMA, strict: true }]

describe.each(AGENT_MODELS)('openai sdk: responses, model %s', (model) => {
  it('create-response 200: creates one', async () => {
    const response = await client.responses.create({ model, input: 'hello' })
    expect(response).toMatchObject({
      status: 'completed',
      model,
      store: false,
      output_text: expect.stringContaining('hello'),
    })
    expect(response.usage).toMatchObject({ cost: expect.any(Number) })
  })

  it('create-response 200: streams one with reasoning', async () => {
    const stream = client.responses.stream({ model, input: 'hello [reasoning]' })
    let text = ''
    for await (const event of stream) {
      text += event.type === 'response.output_text.delta' ? event.delta : ''
    }
    const response = await stream.finalResponse()
    expect(response.output.map(({ type }) => type)).toStrictEqual(['reasoning', 'message'])
    expect(response.output_text).toBe(text)
  })

  it('create-response 200: parses structured output', async () => {
    const format = { type: 'json_schema', name: 'place', schema: SCHEMA, strict: true } as const
    const response = await client.responses.parse({ model, input: 'I am in Oslo', text: { format } })
    expect(JSON.parse(response.output_text)).toStrictEqual({ city: 'Oslo' })
  })

  it('create-response 200: goes through a loop of parallel tools', async () => {
    const asked = [{ role: 'user' as const, content: 'Weather in Oslo [tools:2]' }]
    const first = await client.responses.create({ model, input: asked, tools: TOOLS })
    const calls = first.output.filter((item): item is ResponseFunctionToolCall => item.type === 'function_call')
    expect(calls.map((call) => call.arguments)).toStrictEqual(['{"city":"Oslo"}', '{"city":"Oslo"}'])
    const outputs = calls.map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: 'sunny' }))
    const second = await client.responses.create({
      model,
      input: [...asked, ...calls, ...outputs],
      tools: TOOLS,
    })
    expect(second.output_text).toContain('sunny')
  })

  it('create-response 200: a stream that breaks off ends as failed, after what came', async () => {
    const stream = client.responses.stream({ model, input: 'hello [long:20][cut:12]' })
    let text = ''
    stream.on('response.output_text.delta', ({ delta }) => {
      text += delta
    })
    expect(await stream.finalResponse()).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
    expect(text).toContain('the quick')
  })
})

it('openai sdk: responses 404: says that the gateway keeps none', async () => {
  await expect(client.responses.retrieve('resp_1')).rejects.toThrow('keeps no responses')
  await expect(client.responses.delete('resp_1')).rejects.toThrow('keeps no responses')
})
