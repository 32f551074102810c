import { describe, expect, it } from '@jest/globals'
import { CHAT, openStream, type RelayOperation, startRelayRig, UNSERVED } from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'

/** Upstreams that misreport, repeat and leave out: whatever they send, a request has one bill at most. */
const RESPONSES = CHAT
const MESSAGES = UNSERVED.chat
const rig = useOpened(() =>
  startRelayRig({
    channels: 2,
    channel: (index) =>
      index === 0
        ? { apis: { responses: '/responses' }, models: { [RESPONSES]: 'upstream-chat' } }
        : { apis: { messages: { path: '/messages' } }, models: { [MESSAGES]: 'upstream-chat' } },
    chat: { context_tokens: 100_000 },
  }),
)

/** Tokens of a bill; `bound` for what was reserved, `length` for the estimated prompt and the text that came. */
type Expected = { readonly input: number; readonly output: number } | 'bound' | 'length' | 'free'

const event = (type: string, fields: object = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
const TEXT = 'Hello, world'
const TEXT_TOKENS = 3
const REPORTED = { input: 20, output: 7 }
const BY_TEXT = { input: 20, output: TEXT_TOKENS }

const REQUESTS: Readonly<Record<string, object>> = {
  'create-response': { input: 'Say hi', max_output_tokens: 100 },
  'create-message': { messages: [{ role: 'user', content: 'Say hi' }], max_tokens: 100 },
  'create-chat-completion': {
    messages: [{ role: 'user', content: 'Say hi' }],
    max_tokens: 100,
    stream_options: { include_usage: true },
  },
}

async function billOf(operation: string, model: string, events: readonly string[], call: object = {}) {
  const { id, key } = await rig.tenant('1000')
  rig.upstreams[model === RESPONSES ? 0 : 1]?.answerWith((outgoing) => void openStream(outgoing).end(events.join('')))
  const body = { model, stream: true, ...REQUESTS[operation] }
  const { text, statusCode } = await rig.send(body, { operation: operation as RelayOperation, key, ...call })
  const bills = (await rig.rows(id)).filter(({ kind }) => kind === 'settle')
  const balance = await rig.balance(id)
  expect({ held: balance.held, bills: bills.length }).toStrictEqual({ held: '0', bills: statusCode === 200 ? 1 : 0 })
  const shown = [...text.matchAll(/"cost":([0-9.]+)/g)].at(-1)?.[1]
  return { statusCode, bill: bills[0], spent: balance.spent, shown }
}

async function expectBill(operation: string, model: string, events: readonly string[], expected: Expected) {
  const { statusCode, bill, spent, shown } = await billOf(operation, model, events)
  if (expected === 'free') {
    expect({ statusCode, bill, spent }).toStrictEqual({ statusCode: 502, bill: undefined, spent: '0' })
    return
  }
  const usage = bill?.usage
  if (typeof expected === 'object') {
    const { inputTokens: input, outputTokens: output } = usage ?? {}
    expect({ isEstimated: bill?.isEstimated, input, output }).toStrictEqual({ isEstimated: false, ...expected })
  } else {
    expect(bill?.isEstimated).toBe(true)
    expect(usage?.outputTokens).toBe(expected === 'bound' ? 100 : TEXT_TOKENS)
  }
  if (shown !== undefined) {
    expect(Number(shown)).toBe(Number(spent))
  }
}

describe('a hostile upstream of messages', () => {
  const message = (usage: unknown) => ({ id: 'msg_up', type: 'message', role: 'assistant', content: [], usage })
  const start = (usage: unknown = { input_tokens: 20, output_tokens: 1 }) =>
    event('message_start', { message: message(usage) })
  const block = event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
  const text = event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: TEXT } })
  const closed = event('content_block_stop', { index: 0 })
  const delta = (usage?: unknown) =>
    event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage })
  const stop = event('message_stop')
  const failed = event('error', { error: { type: 'overloaded_error', message: 'busy' } })
  const body = [block, text, closed]
  const good = [start(), ...body, delta({ output_tokens: 7 }), stop]

  const CASES: readonly (readonly [string, readonly string[], Expected])[] = [
    ['reports in its first and its last event', good, REPORTED],
    [
      'lowers a running total',
      [start(), ...body, delta({ output_tokens: 7 }), delta({ output_tokens: 2 }), stop],
      REPORTED,
    ],
    [
      'raises a running total',
      [start(), ...body, delta({ output_tokens: 2 }), delta({ output_tokens: 7 }), stop],
      REPORTED,
    ],
    [
      'corrects the input',
      [start(), ...body, delta({ input_tokens: 30, output_tokens: 7 }), stop],
      { input: 30, output: 7 },
    ],
    [
      'begins twice',
      [start(), block, text, start({ input_tokens: 1, output_tokens: 1 }), delta({ output_tokens: 7 }), stop],
      REPORTED,
    ],
    [
      'reports in a ping',
      [start(), event('ping', { usage: { input_tokens: 900 } }), ...body, delta({ output_tokens: 7 }), stop],
      REPORTED,
    ],
    ['reports in its stop', [start(), ...body, event('message_stop', { usage: { output_tokens: 7 } })], REPORTED],
    ['reports before its begin', [delta({ output_tokens: 7 }), start(), ...body, stop], REPORTED],
    ['reports no output', [start(), ...body, delta(), stop], BY_TEXT],
    ['reports an output of zero', [start(), ...body, delta({ output_tokens: 0 }), stop], BY_TEXT],
    ['reports an output below zero', [start(), ...body, delta({ output_tokens: -9 }), stop], BY_TEXT],
    ['reports half a token', [start(), ...body, delta({ output_tokens: 1.5 }), stop], BY_TEXT],
    ['reports a text', [start(), ...body, delta({ output_tokens: '7' }), stop], BY_TEXT],
    [
      'reports more than its model can',
      [start(), ...body, delta({ output_tokens: 1e12 }), stop],
      { input: 20, output: 1000 },
    ],
    ['reports nothing', [start(null), ...body, delta(), stop], 'bound'],
    [
      'reports no input',
      [start({ input_tokens: 0, output_tokens: 1 }), ...body, delta({ output_tokens: 7 }), stop],
      'bound',
    ],
    [
      'reports an input below zero',
      [start({ input_tokens: -20, output_tokens: 1 }), ...body, delta({ output_tokens: 7 }), stop],
      'bound',
    ],
    ['has no last events', [start(), ...body, stop], BY_TEXT],
    ['is cut after its begin', [start()], 'free'],
    ['is cut before its text', [start(), block], 'free'],
    ['is cut in its text', [start(), block, text], BY_TEXT],
    ['is cut after its text', [start(), ...body], BY_TEXT],
    ['is cut before its stop', [start(), ...body, delta({ output_tokens: 7 })], REPORTED],
    ['is cut in its stop', [start(), ...body, delta({ output_tokens: 7 }), stop.slice(0, 12)], REPORTED],
    ['leaves out the last blank line', [...good.slice(0, -1), stop.trimEnd()], REPORTED],
    ['says [DONE] instead of stopping', [...good.slice(0, -1), 'data: [DONE]\n\n'], REPORTED],
    ['fails at its begin', [start(), failed], 'free'],
    ['fails in its text', [start(), block, text, failed], BY_TEXT],
    ['fails after its report', [...good.slice(0, -1), failed], REPORTED],
    ['fails after its stop', [...good, failed], REPORTED],
    ['stops before it begins', [stop, ...good], 'free'],
    ['names no events', good.map((each) => each.replace(/^event: .*\n/, '')), REPORTED],
    ['sends comments', good.map((each) => `: hi\n\n: there\n${each}`), REPORTED],
    ['sends no events', ['<html>'], 'free'],
  ]

  describe.each(Object.keys(REQUESTS))('%s', (operation) => {
    it.each(CASES)('that %s', async (_, events, expected) => {
      await expectBill(operation, MESSAGES, events, expected)
    })

    it.each([0, 1, 200, 400])('a client that leaves after %i bytes pays what was reported, once', async (bytes) => {
      const { bill } = await billOf(operation, MESSAGES, good, { client: { leavesAfterBytes: bytes } })
      expect(bill).toMatchObject({ usage: { inputTokens: 20, outputTokens: 7 } })
    })
  })
})

describe('a hostile upstream of responses', () => {
  const USAGE = { input_tokens: 20, output_tokens: 7, total_tokens: 27 }
  const response = (fields: object = {}) => ({
    id: 'resp_up',
    status: 'completed',
    output: [],
    usage: USAGE,
    ...fields,
  })
  const created = event('response.created', { response: response({ status: 'in_progress', usage: null }) })
  const text = event('response.output_text.delta', { output_index: 0, content_index: 0, delta: TEXT })
  const last = (fields: object = {}, type = 'completed') => event(`response.${type}`, { response: response(fields) })
  const failed = event('error', { code: 'x', message: 'no' })
  const reporting = (usage: unknown) => [created, text, last({ usage })]

  it.each<readonly [string, readonly string[], Expected]>([
    ['reports in its last event', [created, text, last()], REPORTED],
    ['is incomplete', [created, text, last({ status: 'incomplete' }, 'incomplete')], REPORTED],
    ['completes twice', [created, text, last(), last({ usage: { input_tokens: 900, output_tokens: 900 } })], REPORTED],
    ['fails after it completed', [created, text, last(), failed], REPORTED],
    ['reports in its first event alone', [last({ status: 'in_progress' }, 'created'), text], 'length'],
    ['reports nothing', reporting(undefined), 'bound'],
    ['reports null', reporting(null), 'bound'],
    ['reports zero', reporting({ input_tokens: 0, output_tokens: 0 }), 'bound'],
    ['reports no input', reporting({ input_tokens: 0, output_tokens: 7 }), 'bound'],
    ['reports below zero', reporting({ input_tokens: -20, output_tokens: -7 }), 'bound'],
    ['reports half a token', reporting({ input_tokens: 1.5, output_tokens: 1.5 }), 'bound'],
    [
      'reports more than its model can',
      reporting({ input_tokens: 20, output_tokens: 1e12 }),
      { input: 20, output: 1000 },
    ],
    ['completes without a response', [created, text, event('response.completed')], 'bound'],
    ['is cut after its begin', [created], 'free'],
    ['is cut in its text', [created, text], 'length'],
    ['is cut in its last event', [created, text, last().slice(0, 60)], 'length'],
    ['leaves out the last blank line', [created, text, last().trimEnd()], REPORTED],
    ['says [DONE] instead of completing', [created, text, 'data: [DONE]\n\n'], 'length'],
    ['says [DONE] at once', ['data: [DONE]\n\n', created, text, last()], REPORTED],
    ['fails at its begin', [created, last({ status: 'failed' }, 'failed')], 'free'],
    ['fails in its text', [created, text, last({ status: 'failed', usage: null }, 'failed')], 'length'],
    ['fails in its text, with a report', [created, text, last({ status: 'failed' }, 'failed')], REPORTED],
    ['reports an error at its begin', [created, failed], 'free'],
    ['reports an error in its text', [created, text, failed], 'length'],
    ['names no events', [created, text, last()].map((each) => each.replace(/^event: .*\n/, '')), REPORTED],
    ['sends comments', [created, text, last()].map((each) => `: hi\n\n: there\n${each}`), REPORTED],
  ])('that %s', async (_, events, expected) => {
    await expectBill('create-response', RESPONSES, events, expected)
  })

  it.each([0, 1, 200])('a client that leaves after %i bytes pays what was reported, once', async (bytes) => {
    const { bill } = await billOf('create-response', RESPONSES, [created, text, last()], {
      client: { leavesAfterBytes: bytes },
    })
    expect(bill).toMatchObject({ usage: { inputTokens: 20, outputTokens: 7 } })
  })
})
