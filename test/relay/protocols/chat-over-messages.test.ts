import { describe, expect, it } from '@jest/globals'
import { fieldTree } from '#core/json/json-fields.ts'
import type { Microcredits } from '#core/money.ts'
import { tokenCounts } from '#core/pricing/token-usage.ts'
import { allSteps } from '#core/relay/event-stream.ts'
import { messageToChat } from '#core/translate/messages-reply-to-chat.ts'
import { ToolNames } from '#core/translate/tool-names.ts'
import { MessageAsChatStream } from '#lambdas/relay/protocols/chat-over-messages.ts'
import { ChatStream } from '#lambdas/relay/protocols/chat-stream.ts'
import { ResponsesStream } from '#lambdas/relay/protocols/responses-stream.ts'

const RULES = {
  publicModel: 'm',
  hidden: fieldTree([]),
  withoutCredentials: (text: string) => text,
  costOf: () => 5n as Microcredits,
}
const NAMES = { names: new ToolNames(), created: 1 }
const ODD = { toString: 1 }

const event = (type: string, fields: object = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
const start = (message: object) => event('message_start', { message })
const text = (value: unknown) => event('content_block_delta', { delta: { type: 'text_delta', text: value } })
const finish = (fields: object) => event('message_delta', { delta: { stop_reason: 'end_turn' }, ...fields })

const USAGE = { input_tokens: 15, cache_read_input_tokens: 5, output_tokens: 1 }
const START = start({ id: 'msg_up', usage: USAGE })

function streamed(...events: readonly string[]) {
  const chat = new ChatStream({ ...RULES, relaysUsage: true, choices: 1 })
  const stream = new MessageAsChatStream(chat, NAMES)
  const written = allSteps(stream.push(events.join(''))) + (stream.end() ?? '')
  const chunks = [...written.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json ?? ''))
  return { chunks, usage: stream.usage, state: stream.state }
}

describe('MessageAsChatStream', () => {
  it('has the usage of message_delta when message_stop never comes', () => {
    const { chunks, usage, state } = streamed(START, text('Hi'), finish({ usage: { output_tokens: 3 } }))
    expect(usage).toStrictEqual(tokenCounts({ input: 15, cachedInput: 5, output: 3 }))
    expect(chunks.at(-2)).toMatchObject({ choices: [{ finish_reason: 'stop' }] })
    expect(chunks.at(-1)).toMatchObject({ usage: { prompt_tokens: 20, completion_tokens: 3 } })
    expect(state).toBe('finished')
  })

  it('counts the input exactly and the output by its length in a stream that breaks off', () => {
    expect(streamed(START, text('x'.repeat(40))).usage).toStrictEqual(
      tokenCounts({ input: 15, cachedInput: 5, output: 10 }),
    )
    expect(streamed(START).usage).toBeUndefined()
  })

  it('has no usage when the upstream leaves out all input counts', () => {
    const events = [start({ id: 'a' }), text('Hi'), finish({ usage: { output_tokens: 3 } }), event('message_stop')]
    const { chunks, usage } = streamed(...events)
    expect(usage).toBeUndefined()
    expect(chunks.at(-1)?.usage).not.toHaveProperty('prompt_tokens')
    expect(chunks.at(-1)?.usage).not.toHaveProperty('total_tokens')
  })

  it('has the arguments that come whole with the begin of a call', () => {
    const tool = { type: 'tool_use', id: 'a', name: 'f', input: { city: 'Oslo' } }
    const { chunks } = streamed(
      START,
      event('content_block_start', { content_block: tool }),
      event('content_block_stop'),
      finish({ usage: { output_tokens: 3 } }),
      event('message_stop'),
    )
    const calls = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
    expect(calls.map((call) => call.function.arguments).join('')).toBe('{"city":"Oslo"}')
  })

  it('replaces an id that is long or odd, and keeps a plain one', () => {
    const idOf = (id: unknown) => streamed(start({ id, model: 'x'.repeat(1000), usage: USAGE })).chunks[0]
    expect(idOf('msg_up')).toMatchObject({ id: 'chatcmpl-up', model: 'm' })
    for (const id of ['x'.repeat(129), 'a b', ODD, undefined]) {
      expect(idOf(id)?.id).toMatch(/^chatcmpl-[0-9a-f]{32}$/)
    }
  })

  it('does not throw for values that are no text', () => {
    const tool = { type: 'tool_use', id: ODD, name: ODD }
    const { state } = streamed(
      start({ id: ODD, usage: USAGE }),
      event('content_block_start', { content_block: tool }),
      event('content_block_delta', { delta: { type: 'input_json_delta', partial_json: ODD } }),
      text(ODD),
      event('message_delta', { delta: { stop_reason: ODD }, usage: { output_tokens: 3 } }),
      event('message_stop'),
    )
    expect(state).toBe('done')
  })
})

it('messageToChat does not throw for values that are no text', () => {
  const content = [
    { type: 'text', text: ODD },
    { type: 'tool_use', id: ODD, name: ODD, input: {} },
  ]
  expect(messageToChat({ id: ODD, content, stop_reason: ODD }, NAMES)).toMatchObject({
    choices: [{ finish_reason: 'stop', message: { tool_calls: [{ id: expect.stringMatching(/^call_/) }] } }],
  })
  expect(messageToChat({ content: [], stop_reason: 'constructor' }, NAMES)).toMatchObject({
    choices: [{ finish_reason: 'stop' }],
  })
})

it('ResponsesStream counts the text of finished items that came without deltas, and none twice', () => {
  const stream = new ResponsesStream(RULES)
  const item = { type: 'message', content: [{ type: 'output_text', text: 'x'.repeat(40), annotations: [] }] }
  const done = event('response.output_item.done', { item })
  allSteps(stream.push(done))
  expect(stream.relayedTextBytes).toBe(40)
  const withDeltas = new ResponsesStream(RULES)
  allSteps(withDeltas.push(event('response.output_text.delta', { delta: 'x'.repeat(40) }) + done))
  expect(withDeltas.relayedTextBytes).toBe(40)
})
