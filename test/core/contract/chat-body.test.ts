import { describe, expect, it } from 'vitest'
import { chatBodySchema } from '#core/contract/chat-body.ts'
import { parseBody } from '#core/contract/request-issues.ts'
import { issuesOf } from '../shipped-catalogue.ts'

const GOOD = { model: 'chat-default', messages: [{ role: 'user', content: 'Say hi' }] }
const withMessage = (message: unknown) => ({ ...GOOD, messages: [message] })
const refusalOf = (body: unknown) => issuesOf(() => parseBody(chatBodySchema, body))

describe('chat-body', () => {
  it.each([
    ['an empty assistant message that calls tools', { role: 'assistant', tool_calls: [] }],
    ['a function message without a result', { role: 'function', content: null, name: 'f' }],
    ['a tool message with its call', { role: 'tool', content: 'x', tool_call_id: 'c1' }],
    ['a newer role', { role: 'developer', content: 'x' }],
  ])('takes %s', (_, message) => {
    expect(parseBody(chatBodySchema, withMessage(message)).messages).toEqual([message])
  })

  it.each<[string, unknown, string]>([
    ['a body that is a list', [], ''],
    ['no model', { ...GOOD, model: undefined }, 'model'],
    ['a model that is no string', { ...GOOD, model: 7 }, 'model'],
    ['no messages', { model: 'chat-default' }, 'messages'],
    ['an empty list of messages', { ...GOOD, messages: [] }, 'messages'],
    ['messages that are a string', { ...GOOD, messages: 'hi' }, 'messages'],
    ['a message that is a string', withMessage('hi'), 'messages.0'],
    ['a role that does not exist', withMessage({ role: 'wizard', content: 'hi' }), 'messages.0.role'],
    ['no content', withMessage({ role: 'user' }), 'messages.0.content'],
    ['content that is null for a user', withMessage({ role: 'user', content: null }), 'messages.0.content'],
    ['a tool message without its call', withMessage({ role: 'tool', content: 'x' }), 'messages.0.tool_call_id'],
    ['a function message without its function', withMessage({ role: 'function', content: 'x' }), 'messages.0.name'],
    ['a function message without a content', withMessage({ role: 'function', name: 'f' }), 'messages.0.content'],
    ['tool calls of a user', withMessage({ role: 'user', content: 'x', tool_calls: [] }), 'messages.0.tool_calls'],
    [
      'a tool call with arguments that are no string',
      withMessage({ role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: {} } }] }),
      'messages.0.tool_calls.0.function.arguments',
    ],
    ['a temperature above 2', { ...GOOD, temperature: 2.1 }, 'temperature'],
    ['a temperature below 0', { ...GOOD, temperature: -0.1 }, 'temperature'],
    ['a temperature that is a string', { ...GOOD, temperature: '1' }, 'temperature'],
    ['top_p above 1', { ...GOOD, top_p: 1.1 }, 'top_p'],
    ['no tokens', { ...GOOD, max_tokens: 0 }, 'max_tokens'],
    ['half a token', { ...GOOD, max_tokens: 1.5 }, 'max_tokens'],
    ['no choices', { ...GOOD, n: 0 }, 'n'],
    ['too many choices', { ...GOOD, n: 129 }, 'n'],
    ['five stops', { ...GOOD, stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
    ['a stop that is a number', { ...GOOD, stop: 7 }, 'stop'],
    ['a penalty above 2', { ...GOOD, presence_penalty: 2.5 }, 'presence_penalty'],
    ['a penalty below -2', { ...GOOD, frequency_penalty: -2.5 }, 'frequency_penalty'],
    ['stream as a string', { ...GOOD, stream: 'yes' }, 'stream'],
    ['a user that is a number', { ...GOOD, user: 7 }, 'user'],
    ['tools that are an object', { ...GOOD, tools: {} }, 'tools'],
    ['a tool of another type', { ...GOOD, tools: [{ type: 'retrieval' }] }, 'tools.0.type'],
    ['a tool without a name', { ...GOOD, tools: [{ type: 'function', function: {} }] }, 'tools.0.function.name'],
    ['a tool choice that does not exist', { ...GOOD, tool_choice: 'maybe' }, 'tool_choice'],
  ])('refuses %s and names the field', (_, body, path) => {
    expect(refusalOf(body)).toContainEqual({ path, message: expect.any(String) })
  })

  it.each<[string, object]>([
    ['messages', { messages: Array.from({ length: 10_000 }, () => 'secret words') }],
    ['parts', { messages: [{ role: 'user', content: Array.from({ length: 1_000_000 }, () => 'secret words') }] }],
    [
      'parts of messages',
      { messages: Array.from({ length: 500 }, () => ({ role: 'user', content: Array(2_000).fill({}) })) },
    ],
    [
      'calls',
      { messages: [{ role: 'assistant', tool_calls: Array.from({ length: 1_000_000 }, () => 'secret words') }] },
    ],
  ])('reports one of a million faults in its %s, and never repeats what the client sent', (_, members) => {
    const issues = refusalOf({ ...GOOD, ...members })
    expect(issues).toHaveLength(1)
    expect(JSON.stringify(issues)).not.toContain('secret')
  })
})
