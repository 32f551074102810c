import { describe, expect, it } from 'vitest'
import { shapeOf } from '../shared/shape-of.ts'
import { at } from '../shared/simulator-client.ts'
import { chatBody, openAiFixture, withOpenAi } from './openai-client.ts'

describe('a chat request that the OpenAI-style upstream refuses', () => {
  const user = { role: 'user', content: 'hi' }
  it.each([
    ['model', { model: undefined }, 'model'],
    ['messages', { messages: undefined }, 'messages'],
    ['a role', { messages: [{ content: 'hi' }] }, 'messages[0].role'],
  ])('lacks %s: 400 that names the member', async (_, more, param) => {
    await withOpenAi({}, async ({ chat }) => {
      const { status, body } = await chat('hi', more)
      expect(status).toBe(400)
      expect(at(body, 'error')).toEqual({
        message: `Missing required parameter: '${param}'.`,
        type: 'invalid_request_error',
        param,
        code: 'missing_required_parameter',
      })
    })
  })

  it.each([
    ['no messages', { messages: [] }, 'messages'],
    ['an unknown role', { messages: [{ role: 'bob', content: 'hi' }] }, 'messages[0].role'],
    ['content that is a number', { messages: [{ role: 'user', content: 3 }] }, 'messages[0].content'],
    ['a text for n', { n: '2' }, 'n'],
    ['a temperature above 2', { temperature: 2.1 }, 'temperature'],
    ['five stop sequences', { stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
    ['stream options without a stream', { stream_options: { include_usage: true } }, 'stream_options'],
    ['a tool choice without tools', { tool_choice: 'auto' }, 'tool_choice'],
    [
      'a tool that nobody called',
      { messages: [user, { role: 'tool', tool_call_id: 'a', content: '' }] },
      'messages[1].role',
    ],
  ])('has %s: 400 that names the member', async (_, more, param) => {
    await withOpenAi({}, async ({ chat }) => {
      const { status, body } = await chat('hi', more)
      expect([status, at(body, 'error', 'param')]).toEqual([400, param])
    })
  })

  it('asks for more tokens than the model makes', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const { status, body } = await chat('hi', { max_tokens: 16_385 })
      expect([status, shapeOf(body)]).toEqual([400, shapeOf(openAiFixture('err_400_max_tokens').response.body)])
      expect(at(body, 'error', 'param')).toBe('max_tokens')
      expect((await chat('hi', { max_tokens: 16_384 })).status).toBe(200)
    })
  })

  it('says more than the model reads', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const { status, body } = await chat('a '.repeat(128_000))
      expect([status, shapeOf(body)]).toEqual([400, shapeOf(openAiFixture('err_400_context').response.body)])
      expect(at(body, 'error', 'code')).toBe('context_length_exceeded')
      expect((await chat('a '.repeat(127_990))).status).toBe(200)
    })
  })

  it('names a model that is not among the known ones', async () => {
    await withOpenAi({ models: ['chat-b'] }, async ({ chat }) => {
      const { status, body } = await chat('hi')
      expect([status, shapeOf(body)]).toEqual([404, shapeOf(openAiFixture('err_404_model').response.body)])
      expect((await chat('hi', { model: 'chat-b' })).status).toBe(200)
    })
  })

  it('is no JSON object', async () => {
    await withOpenAi({}, async ({ post }) => {
      for (const body of [[chatBody('hi')], 'hi', null]) {
        const answer = await post('/chat/completions', body)
        expect([answer.status, at(answer.body, 'error', 'type')]).toEqual([400, 'invalid_request_error'])
      }
    })
  })
})
