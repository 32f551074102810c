import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { fieldTree } from '#core/json/json-fields.ts'
import type { Microcredits } from '#core/money.ts'
import { tokenBilling } from '#core/pricing/relay-cost.ts'
import { inputTokensOf, type TokenCounts } from '#core/pricing/token-usage.ts'
import { allSteps } from '#core/relay/event-stream.ts'
import { MessageTranslator } from '#core/translate/chat-to-messages.ts'
import { ResponseTranslator } from '#core/translate/chat-to-responses.ts'
import { ToolNames } from '#core/translate/tool-names.ts'
import { MessageAsChatStream } from '#lambdas/relay/protocols/chat-over-messages.ts'
import { ChatStream } from '#lambdas/relay/protocols/chat-stream.ts'
import { MessagesStream } from '#lambdas/relay/protocols/messages-stream.ts'
import { ResponsesStream } from '#lambdas/relay/protocols/responses-stream.ts'
import { TranslatedStream } from '#lambdas/relay/protocols/translated-chat.ts'
import type { RelayedStream } from '#lambdas/relay/relay-protocol.ts'
import { shippedCatalogue } from '../../core/shipped-catalogue.ts'

const MODEL = shippedCatalogue.findRelayModel('chat-default', { kind: 'chat', allowed: null })
if (MODEL === undefined) {
  throw new TypeError('the shipped configuration has no chat model')
}
const CALL = { promptTokensMax: 1_000, promptTokensEstimate: 250, outputTokensMax: 100, choices: 1 }
const BILLING = tokenBilling(MODEL, [CALL], { name: 'max_tokens' })
/** The most that a reply can cost: all that the model can hold and generate. */
const MOST = tokenBilling(
  MODEL,
  [{ ...CALL, promptTokensMax: MODEL.context_tokens, outputTokensMax: MODEL.max_output_tokens }],
  { name: 'max_tokens' },
).price([{ how: 'whole', usage: undefined, textBytes: 0 }])

const RULES = {
  publicModel: 'm',
  hidden: fieldTree([]),
  withoutCredentials: (text: string) => text,
  costOf: (usage: TokenCounts) => BigInt(inputTokensOf(usage)) as Microcredits,
}
const MESSAGE_RULES = { names: new ToolNames(), created: 1 }
const RESPONSE_HEAD = { seed: 'abc', createdAt: 1, publicModel: 'm', body: {} }
const chat = () => new ChatStream({ ...RULES, relaysUsage: true, choices: 1 })
const asResponse = () => new TranslatedStream(RULES, new ResponseTranslator(RESPONSE_HEAD, new ToolNames()))
const asMessage = () =>
  new TranslatedStream(RULES, new MessageTranslator({ seed: 'abc', publicModel: 'm' }, new ToolNames()))

const number = fc.oneof(fc.nat(50), fc.constantFrom<unknown>(-1, 0, 1.5, 1e12, 1e300, null, '7', [], {}))
const usage = fc.oneof(
  fc.record(
    {
      input_tokens: number,
      output_tokens: number,
      prompt_tokens: number,
      completion_tokens: number,
      total_tokens: number,
      cache_read_input_tokens: number,
      input_tokens_details: fc.record({ cached_tokens: number }),
    },
    { requiredKeys: [] },
  ),
  fc.constantFrom(null, undefined, 7, []),
)
const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 6 }), fc.constantFrom<unknown>(null, 7, {}))
const named = (type: string, fields: fc.Arbitrary<object>) => fields.map((each) => ({ type, ...each }))
const record = (fields: Record<string, fc.Arbitrary<unknown>>) => fc.record(fields, { requiredKeys: [] })

const RESPONSES = fc.oneof(
  ...['created', 'in_progress', 'completed', 'incomplete', 'failed'].map((name) =>
    named(
      `response.${name}`,
      record({ response: record({ usage, output: fc.array(record({ text })), error: text }), usage }),
    ),
  ),
  ...['output_text', 'function_call_arguments', 'something'].map((name) =>
    named(`response.${name}.delta`, record({ delta: text, sequence_number: number, usage })),
  ),
  named('response.output_item.done', record({ item: record({ id: text, content: fc.array(record({ text })) }) })),
  named('error', record({ message: text, usage })),
)
const MESSAGES = fc.oneof(
  named('message_start', record({ message: record({ id: text, usage }) })),
  named(
    'content_block_start',
    record({ content_block: record({ type: fc.constantFrom('text', 'tool_use', 'odd'), name: text, text }) }),
  ),
  named(
    'content_block_delta',
    record({
      delta: record({
        type: fc.constantFrom('text_delta', 'thinking_delta', 'input_json_delta'),
        text,
        thinking: text,
        partial_json: text,
      }),
    }),
  ),
  named('content_block_stop', record({ usage })),
  named('message_delta', record({ delta: record({ stop_reason: text }), usage })),
  named('message_stop', record({ usage })),
  named('ping', record({ usage })),
  named('error', record({ error: record({ type: text, message: text }) })),
)
const CALLS = fc.array(record({ index: number, id: text, function: record({ name: text, arguments: text }) }), {
  maxLength: 2,
})
const CHAT = fc.oneof(
  record({
    choices: fc.array(
      record({
        index: fc.constantFrom(0, 0, 1),
        delta: record({ content: text, reasoning_content: text, tool_calls: CALLS }),
        finish_reason: fc.constantFrom(null, null, 'stop', 'length'),
      }),
      { maxLength: 2 },
    ),
    usage,
  }),
  record({ error: record({ message: text }), choices: fc.constant([]) }),
)

const STREAMS: readonly (readonly [string, fc.Arbitrary<object>, () => RelayedStream<TokenCounts>])[] = [
  ['responses as they are', RESPONSES, () => new ResponsesStream(RULES)],
  ['messages as they are', MESSAGES, () => new MessagesStream(RULES)],
  ['messages as chat', MESSAGES, () => new MessageAsChatStream(chat(), MESSAGE_RULES)],
  ['messages as a response', MESSAGES, () => new MessageAsChatStream(asResponse(), MESSAGE_RULES)],
  ['chat as a response', CHAT, asResponse],
  ['chat as a message', CHAT, asMessage],
]

function bytesOf(events: readonly object[], isDone: boolean): Buffer {
  const written = events.map((each) => {
    const name = 'type' in each && typeof each.type === 'string' ? `event: ${each.type}\n` : ''
    return `${name}data: ${JSON.stringify(each)}\n\n`
  })
  return Buffer.from(`${written.join('')}${isDone ? 'data: [DONE]\n\n' : ''}`)
}

/** What a stream writes of bytes that come in pieces, as the relay reads it: nothing after its end. */
function read(stream: RelayedStream<TokenCounts>, pieces: readonly Buffer[]) {
  let written = ''
  for (const piece of pieces) {
    written +=
      stream.state === 'done' || stream.state === 'failed' ? '' : allSteps(stream.push(piece.toString('latin1')))
  }
  const isOver = stream.state === 'done' || stream.state === 'failed'
  const rest = isOver ? '' : stream.end()
  const { state, usage: counts, hasGenerated, hasBegun, relayedTextBytes } = stream
  // Ids of a chat whose message has none are new ones.
  const shown = (written + (rest ?? '')).replaceAll(/(chatcmpl-|call_)[0-9a-f]{32}/g, '$1')
  return { written: shown, state, counts, hasGenerated, hasBegun, relayedTextBytes }
}

const pieces = (bytes: Buffer, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size))

/** The lines that name a last event. */
const LAST_EVENT = /^event: (?:error|message_stop|response\.(?:completed|incomplete|failed))$/gm

describe.each(STREAMS)('%s', (_, event, open) => {
  const upstream = fc.tuple(fc.array(event, { maxLength: 10 }), fc.boolean(), fc.integer({ min: 1, max: 60 }))

  it('is read alike wherever the bytes of an odd upstream are cut, has one last event, and never throws', () => {
    fc.assert(
      fc.property(upstream, ([events, isDone, size]) => {
        const bytes = bytesOf(events, isDone)
        const whole = read(open(), [bytes])
        expect(read(open(), pieces(bytes, size))).toStrictEqual(whole)
        expect((whole.written.match(LAST_EVENT) ?? []).length).toBeLessThanOrEqual(1)
      }),
      { numRuns: 150 },
    )
  })

  it('has a bill between nothing and all that its model can generate, and none of nothing for what was generated', () => {
    fc.assert(
      fc.property(upstream, fc.constantFrom('whole', 'broken', 'abandoned'), ([events, isDone, size], how) => {
        const { counts, hasGenerated, relayedTextBytes } = read(open(), pieces(bytesOf(events, isDone), size))
        for (const count of Object.values(counts ?? {})) {
          expect(count === true || (Number.isSafeInteger(count) && count >= 0)).toBe(true)
        }
        const checked = counts && BILLING.check(counts).usage
        const priced = BILLING.price([{ how, usage: checked, textBytes: relayedTextBytes }])
        const amount = priced?.charge.amount ?? 0n
        expect(amount <= (MOST?.charge.amount ?? 0n)).toBe(true)
        expect(amount > 0n || !hasGenerated || (how === 'broken' && relayedTextBytes === 0)).toBe(true)
      }),
      { numRuns: 150 },
    )
  })
})
