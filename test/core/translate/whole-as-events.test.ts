import { describe, expect, it } from '@jest/globals'
import { parseJsonObject } from '#core/json/parse-json-text.ts'
import { messageEvents } from '#core/translate/message-events.ts'
import { responseEvents } from '#core/translate/response-events.ts'
import { originalId, plainId, ToolNames } from '#core/translate/tool-names.ts'

const dataOf = (events: string) =>
  [...events.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => parseJsonObject(json) ?? {})
const typesOf = (events: string) => dataOf(events).map(({ type }) => type)

describe('a whole response as events', () => {
  const output = [
    {
      id: 'rs_1',
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'short' }],
      content: [{ type: 'reasoning_text', text: 'long' }],
    },
    { id: 'rs_2', type: 'reasoning', summary: [] },
    {
      id: 'msg_1',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [
        { type: 'output_text', text: 'Hi', annotations: [], logprobs: [{ token: 'Hi' }] },
        { type: 'refusal', refusal: 'No' },
        { type: 'odd', value: 1 },
      ],
    },
    { id: 'fc_1', type: 'function_call', status: 'completed', call_id: 'c1', name: 'f', arguments: '{"a":1}' },
    { id: 'ct_1', type: 'custom_tool_call', call_id: 'c2', name: 'g', input: 'text' },
    { id: 'x_1', type: 'new_item', value: 2 },
  ]
  const response = { id: 'resp_1', object: 'response', status: 'completed', output, usage: { input_tokens: 1 } }
  const events = dataOf(responseEvents(response))

  it('is numbered without a gap, from the opening to the last event with the whole response', () => {
    expect(events.map(({ sequence_number: number }) => number)).toStrictEqual(events.map((_, index) => index))
    expect(events.at(0)).toMatchObject({ type: 'response.created', response: { status: 'in_progress', output: [] } })
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response })
  })

  it('opens each item empty, and ends each with all that it has', () => {
    const added = events.filter(({ type }) => type === 'response.output_item.added')
    const done = events.filter(({ type }) => type === 'response.output_item.done')
    expect(done.map(({ item }) => item)).toStrictEqual(output)
    expect(added).toMatchObject([
      { item: { id: 'rs_1', summary: [], content: [] } },
      { item: { id: 'rs_2', summary: [] } },
      { item: { id: 'msg_1', status: 'in_progress', content: [] } },
      { item: { id: 'fc_1', arguments: '' } },
      { item: { id: 'ct_1', input: '' } },
      { item: { id: 'x_1', value: 2 } },
    ])
  })

  it('has the text of every part in a delta and in its end', () => {
    const texts = events.flatMap(({ type, delta }) => (delta === undefined ? [] : [[type, delta]]))
    expect(texts).toStrictEqual([
      ['response.reasoning_summary_text.delta', 'short'],
      ['response.reasoning_text.delta', 'long'],
      ['response.output_text.delta', 'Hi'],
      ['response.refusal.delta', 'No'],
      ['response.function_call_arguments.delta', '{"a":1}'],
      ['response.custom_tool_call_input.delta', 'text'],
    ])
  })

  it.each(['incomplete', 'failed'])('ends with response.%s', (status) => {
    expect(typesOf(responseEvents({ ...response, status, output: [] })).at(-1)).toBe(`response.${status}`)
  })
})

describe('a whole message as events', () => {
  it('has one block after the other, each empty at first', () => {
    const content = [
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'Hi' },
      { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } },
      { type: 'tool_use', id: 'u', name: 'g' },
      { type: 'odd', value: 1 },
    ]
    const message = { id: 'm', type: 'message', content, stop_reason: 'tool_use', usage: { input_tokens: 2, cost: 1 } }
    const events = dataOf(messageEvents(message))
    expect(events.at(0)).toMatchObject({ message: { content: [], usage: { input_tokens: 2, output_tokens: 0 } } })
    expect(events.flatMap(({ delta, index }) => (index === undefined || delta === undefined ? [] : [delta]))).toEqual([
      { type: 'thinking_delta', thinking: 'hm' },
      { type: 'signature_delta', signature: '' },
      { type: 'text_delta', text: 'Hi' },
      { type: 'input_json_delta', partial_json: '{"a":1}' },
      { type: 'input_json_delta', partial_json: '{}' },
    ])
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' }, usage: { cost: 1 } })
  })

  it('has no block and no usage for a message without them', () => {
    expect(typesOf(messageEvents({ id: 'm' }))).toStrictEqual(['message_start', 'message_delta', 'message_stop'])
  })
})

describe('the names of tools for an upstream', () => {
  it('are at most 64 plain characters, differ, and lead back to their tools', () => {
    const names = new ToolNames()
    const tools = [
      { name: 'plain' },
      { name: 'b', namespace: 'a' },
      { name: 'a__b' },
      ...Array.from({ length: 300 }, (_, index) => ({ name: `${'long '.repeat(20)}${index}` })),
    ]
    const upstream = tools.map((tool) => names.upstreamOf(tool))
    expect(new Set(upstream).size).toBe(tools.length)
    expect(upstream.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name))).toBe(true)
    expect(upstream.map((name) => names.toolOf(name))).toStrictEqual(tools)
    expect(names.upstreamOf({ name: 'plain' })).toBe('plain')
    expect(names.toolOf('unknown')).toStrictEqual({ name: 'unknown' })
  })

  it.each(['call_1', 'with space', 'rgid_x', 'x'.repeat(80)])('the id %s of a call comes back as it was', (id) => {
    expect(plainId(id)).toMatch(/^[A-Za-z0-9_-]+$/)
    expect(originalId(plainId(id))).toBe(id)
  })
})
