import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { fieldTree } from '#core/json/json-fields.ts'
import { type JsonObject, parseJsonObject } from '#core/json/parse-json-text.ts'
import type { Microcredits } from '#core/money.ts'
import { ChatDeltaReader } from '#core/translate/chat-deltas.ts'
import { MessageTranslator } from '#core/translate/chat-to-messages.ts'
import { ResponseTranslator } from '#core/translate/chat-to-responses.ts'
import type { ChatTranslator } from '#core/translate/chat-translator.ts'
import { ToolNames } from '#core/translate/tool-names.ts'
import { TranslatedReplyReader, TranslatedStream } from '#lambdas/relay/protocols/translated-chat.ts'

const TRANSLATORS: readonly (readonly [string, () => ChatTranslator])[] = [
  [
    'response',
    () => new ResponseTranslator({ seed: 'abc', createdAt: 1, publicModel: 'm', body: {} }, new ToolNames()),
  ],
  ['message', () => new MessageTranslator({ seed: 'abc', publicModel: 'm' }, new ToolNames())],
]

const RULES = {
  publicModel: 'm',
  hidden: fieldTree([]),
  withoutCredentials: (text: string) => text,
  costOf: () => 5n as Microcredits,
}

const text = fc.string({ unit: 'grapheme', maxLength: 8 })

/** What a model generates: thoughts, text, and calls with objects as their arguments. */
const reply = fc.record({
  reasoning: fc.array(text, { maxLength: 3 }),
  texts: fc.array(text, { maxLength: 4 }),
  calls: fc.array(fc.dictionary(fc.string({ maxLength: 3 }), fc.integer(), { maxKeys: 3 }), { maxLength: 3 }),
  reason: fc.constantFrom('stop', 'tool_calls', 'content_filter'),
})

type Reply = { reasoning: string[]; texts: string[]; calls: Record<string, number>[]; reason: string }

const USAGE = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }

function chunksOf({ reasoning, texts, calls, reason }: Reply): object[] {
  const choice = (delta: object, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason }],
  })
  const opened = calls.map((_, index) =>
    choice({ tool_calls: [{ index, id: `call_${index}`, function: { name: `f${index}`, arguments: '' } }] }),
  )
  // The arguments of all calls come in turns.
  const written = calls.map((call) => JSON.stringify(call).match(/[\s\S]{1,3}/gu) ?? [])
  const turns = Math.max(0, ...written.map(({ length }) => length))
  const pieces = Array.from({ length: turns }, (_, turn) =>
    written.flatMap((each, index) =>
      each[turn] === undefined ? [] : [choice({ tool_calls: [{ index, function: { arguments: each[turn] } }] })],
    ),
  ).flat()
  return [
    ...reasoning.map((each) => choice({ reasoning_content: each })),
    ...texts.map((each) => choice({ content: each })),
    ...opened,
    ...pieces,
    choice({}, reason),
    { choices: [], usage: USAGE },
  ]
}

const bytesOf = (chunks: readonly object[]) =>
  Buffer.from([...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'].join(''))

function streamOf(newTranslator: () => ChatTranslator, pieces: readonly Buffer[]) {
  const stream = new TranslatedStream(RULES, newTranslator())
  const events = pieces.map((piece) => stream.push(piece.toString('latin1'))).join('') + (stream.end() ?? '')
  return { events: Buffer.from(events, 'latin1').toString('utf8'), state: stream.state, usage: stream.usage }
}

/** Cuts bytes at some places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].toSorted((a, b) => a - b)
  return [...at, bytes.length].map((end, index) => bytes.subarray(index === 0 ? 0 : at[index - 1], end))
}

/** The whole reply that a stream of events comes to, as a client puts it together. */
function folded(name: string, events: string): unknown {
  const all = events
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 'data: '.length)))
  if (name === 'response') {
    return all.at(-1).response
  }
  const message = all[0].message
  const content: Record<string, unknown>[] = []
  const inputs: string[] = []
  for (const event of all) {
    if (event.type === 'content_block_start') {
      content[event.index] = { ...event.content_block }
      inputs[event.index] = ''
    } else if (event.type === 'content_block_delta') {
      const block = content[event.index] ?? {}
      const { type, partial_json, ...delta } = event.delta
      for (const [field, value] of Object.entries(delta)) {
        block[field] = String(block[field] ?? '') + String(value)
      }
      inputs[event.index] += type === 'input_json_delta' ? partial_json : ''
    }
  }
  const whole = content.map((block, index) =>
    block.type === 'tool_use' ? { ...block, input: JSON.parse(inputs[index] || '{}') } : block,
  )
  const { delta, usage } = all.at(-2)
  return { ...message, content: whole, ...delta, usage }
}

describe.each(TRANSLATORS)('a chat as a %s', (name, newTranslator) => {
  it('has the same events wherever the bytes of the upstream are cut', () => {
    fc.assert(
      fc.property(reply, fc.array(fc.nat(), { maxLength: 8 }), (generated, places) => {
        const bytes = bytesOf(chunksOf(generated))
        expect(streamOf(newTranslator, cut(bytes, places))).toStrictEqual(streamOf(newTranslator, [bytes]))
      }),
      { numRuns: 100 },
    )
  })

  it('is whole what its stream comes to', () => {
    fc.assert(
      fc.property(reply, (generated) => {
        const { reasoning, texts, calls, reason } = generated
        const { events, state } = streamOf(newTranslator, [bytesOf(chunksOf(generated))])
        expect(state).toBe('done')
        const message = {
          role: 'assistant',
          content: texts.join(''),
          reasoning_content: reasoning.join(''),
          tool_calls: calls.map((call, index) => ({
            id: `call_${index}`,
            type: 'function',
            function: { name: `f${index}`, arguments: JSON.stringify(call) },
          })),
        }
        const whole = new TranslatedReplyReader(RULES, newTranslator)
        whole.push(
          Buffer.from(JSON.stringify({ choices: [{ index: 0, message, finish_reason: reason }], usage: USAGE })),
        )
        const read = whole.end()
        expect(read.kind).toBe('reply')
        const json =
          read.kind === 'reply' ? parseJsonObject(Buffer.concat(read.relayed(RULES.costOf())).toString()) : {}
        expect(folded(name, events)).toStrictEqual(json)
      }),
      { numRuns: 100 },
    )
  })

  it('never throws and never hangs, whatever an upstream sends, and says so where it is broken', () => {
    const odd = fc.oneof(
      fc.json({ maxDepth: 4 }),
      fc.string(),
      fc
        .record({
          choices: fc.array(
            fc.record({
              index: fc.integer({ max: 2 }),
              delta: fc.object({ maxDepth: 3 }),
              finish_reason: fc.option(text),
            }),
            { maxLength: 3 },
          ),
          usage: fc.option(fc.object()),
        })
        .map((value) => JSON.stringify(value)),
    )
    fc.assert(
      fc.property(fc.array(odd, { maxLength: 8 }), (events) => {
        const bytes = Buffer.from(events.map((data) => `data: ${data}\n\n`).join(''))
        const { state, events: written } = streamOf(newTranslator, [bytes])
        expect(['open', 'finished', 'done', 'failed']).toContain(state)
        for (const event of written.split('\n\n').filter((each) => each !== '')) {
          expect(() => JSON.parse(event.slice(event.indexOf('data: ') + 'data: '.length))).not.toThrow()
        }
      }),
      { numRuns: 200 },
    )
  })
})

const callChunk = (call: object) => ({ choices: [{ delta: { tool_calls: [{ index: 0, ...call }] } }] })

describe('ChatDeltaReader', () => {
  it('tells calls apart that come under one index', () => {
    const reader = new ChatDeltaReader()
    const call = (id: string) => reader.read(callChunk({ id, function: { name: 'f' } }))
    expect([call('a'), call('b'), call('b')].map(({ calls }) => calls[0]?.key)).toStrictEqual(['0', '1', '1'])
  })

  const KIBIBYTE = 'x'.repeat(1024)
  it.each<[string, (count: number) => object]>([
    ['text', () => ({ choices: [{ delta: { content: KIBIBYTE } }] })],
    ['reasoning', () => ({ choices: [{ delta: { reasoning: KIBIBYTE } }] })],
    ['arguments', () => callChunk({ function: { arguments: KIBIBYTE } })],
    ['ids of calls', (count) => callChunk({ id: `${count}${KIBIBYTE}` })],
    ['names of calls', (count) => callChunk({ id: String(count), function: { name: KIBIBYTE } })],
    ['calls without a word', (count) => callChunk({ index: count })],
    [
      'log probabilities',
      () => ({ choices: [{ delta: { content: '' }, logprobs: { content: [{ token: KIBIBYTE }] } }] }),
    ],
    ['annotations', () => ({ choices: [{ delta: { annotations: [{ title: KIBIBYTE }] } }] })],
    ['parts', (count) => ({ choices: [{ delta: count % 2 === 0 ? { content: 'x' } : { reasoning: 'x' } }] })],
  ])('holds no more %s than a model generates', (_, chunkOf) => {
    const reader = new ChatDeltaReader()
    const readAll = () => {
      for (let count = 0; count < 64 * 1024; count += 1) {
        reader.read(chunkOf(count) as JsonObject)
      }
    }
    expect(readAll).toThrow('event')
  })

  it('reads ids and names that come with each piece of a call once', () => {
    const reader = new ChatDeltaReader()
    const piece = callChunk({ id: 'x'.repeat(64), function: { name: 'x'.repeat(64), arguments: '"a"' } })
    for (let count = 0; count < 200_000; count += 1) {
      reader.read(piece)
    }
    expect(reader.read(piece).calls).toHaveLength(1)
  })
})

it('a MessageTranslator closes a call when its object is whole, however often a piece looks like its end', () => {
  const translator = new MessageTranslator({ seed: 'abc', publicModel: 'm' }, new ToolNames())
  const send = (call: object) => translator.chunk(callChunk(call))
  send({ id: 'a', function: { name: 'f', arguments: ' ' } })
  const opened = send({ function: { arguments: '{"a":{"b":"}\\\\\\"]"}' } })
  expect(opened).toContain('content_block_start')
  const second = send({ index: 1, id: 'b', function: { name: 'g', arguments: '{}' } })
  expect(second).not.toContain('content_block_stop')
  // Each of these looked like the end of an object that is parsed.
  for (let count = 0; count < 20_000; count += 1) {
    send({ function: { arguments: `,"k${count}":{"x":1}` } })
  }
  const events = send({ function: { arguments: '}' } })
  expect(events.match(/content_block_stop/g)).toHaveLength(2)
  expect(events).toContain('"index":1,"content_block":{"type":"tool_use","id":"b"')
})
