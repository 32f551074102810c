import { describe, expect, it } from 'vitest'
import { tokenCounts } from '#core/quota/token-counts.ts'
import { ChatStream } from '#core/relay/chat-stream.ts'
import { ChatStreamBrokenError } from '#core/relay/chat-stream-broken-error.ts'
import { CompletionStream } from '#core/relay/completion-stream.ts'
import { readFixture } from '../../adapters/providers/upstream-fixture.ts'
import { chunk, DONE, finish, head, piece, usage } from './chat-chunks.ts'
import { CHAT_MODEL, completionRequest, FALLBACK } from './completing.ts'
import { chunksOf, payloadsOf, textsOf } from './completion-chunks.ts'
import { rulesOf } from './reply-rules.ts'

function newStream(members: object = {}): CompletionStream {
  return new CompletionStream(completionRequest({ stream: true, ...members }), FALLBACK)
}

const NOTHING = tokenCounts({ input: 0, output: 0 })

/** Pushes whole streams one after the other, and ends. */
function relay(members: object, streams: readonly (readonly string[])[]): string {
  const stream = newStream(members)
  const sent = streams.map((payloads, promptIndex) => {
    const text = payloads.map((payload) => stream.push(promptIndex, payload)).join('')
    return text + stream.endCall(promptIndex).text
  })
  return sent.join('') + stream.finish(undefined)
}

describe('CompletionStream', () => {
  it('writes chunks as the older interface has them', () => {
    expect(relay({}, [[piece(''), piece('Hi'), finish(), usage(9, 3), DONE]])).toBe(
      [
        `{"id":"cmpl-1","object":"text_completion","created":1776678917,"model":"${CHAT_MODEL}","choices":[{"text":"Hi","index":0,"logprobs":null,"finish_reason":null}]}`,
        `{"id":"cmpl-1","object":"text_completion","created":1776678917,"model":"${CHAT_MODEL}","choices":[{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}]}`,
        DONE,
      ]
        .map((data) => `data: ${data}\n\n`)
        .join(''),
    )
  })

  it('ends with one chunk of usage where the client asked for it, and has a null in every other', () => {
    const sent = relay({ prompt: ['a', 'b'], stream_options: { include_usage: true } }, [
      [piece('x'), finish(), usage(9, 3), DONE],
      [piece('y'), finish(), usage(4, 5), DONE],
    ])
    const chunks = chunksOf(sent)
    expect(chunks.slice(0, -1).map((each) => each.usage)).toStrictEqual([null, null, null, null])
    expect(chunks.at(-1)).toStrictEqual({
      id: 'cmpl-1',
      object: 'text_completion',
      created: head.created,
      model: CHAT_MODEL,
      choices: [],
      usage: { prompt_tokens: 13, completion_tokens: 8, total_tokens: 21 },
    })
    expect(sent.split(DONE)).toHaveLength(2)
    expect(sent.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it.each(['oai_chat_stream', 'oai_chat_stream_usage'])('takes the recorded stream %s', (name) => {
    const sent = relay({}, [payloadsOf(readFixture(name).response.body_text ?? '')])
    expect(textsOf(sent)).toStrictEqual(new Map([[0, { text: 'Hi!', reason: 'stop' }]]))
    expect(chunksOf(sent).every(({ id }) => id === 'cmpl-9s')).toBe(true)
  })

  it('ends the completion of a recorded tool call, which has no text, as a stop', () => {
    const sent = relay({}, [payloadsOf(readFixture('oai_chat_stream_tools').response.body_text ?? '')])
    expect(textsOf(sent)).toStrictEqual(new Map([[0, { text: '', reason: 'stop' }]]))
    expect(chunksOf(sent)).toHaveLength(1)
  })

  it('hands on the error event of a recorded stream, and nothing after it', () => {
    const stream = newStream()
    const payloads = payloadsOf(readFixture('oai_chat_stream_error').response.body_text ?? '')
    const error = payloads.at(-1) ?? ''
    expect(
      payloads
        .slice(0, -1)
        .map((payload) => stream.push(0, payload))
        .join(''),
    ).toContain('"text":"Hi"')
    expect(() => stream.push(0, error)).toThrow(new ChatStreamBrokenError(error))
  })

  it('puts the echo before the first text of each completion and the suffix with its finish reason', () => {
    const sent = relay({ prompt: ['Once', 'Twice'], n: 2, echo: true, suffix: ' END' }, [
      [piece(' upon'), piece('', 1), piece(' a', 1), piece(' a'), finish(1, 'length'), finish(), DONE],
      [finish(), finish(1), DONE],
    ])
    expect(chunksOf(sent).map(({ choices }) => [choices[0]?.index, choices[0]?.text])).toStrictEqual([
      [0, 'Once upon'],
      [1, 'Once a'],
      [0, ' a'],
      [1, ' END'],
      [0, ' END'],
      [2, 'Twice END'],
      [3, 'Twice END'],
    ])
  })

  it.each([
    ['an empty delta', piece('')],
    ['no delta', chunk({ choices: [{ index: 0 }] })],
    ['a role', chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: null } }] })],
    ['a delta of another kind', chunk({ choices: [{ index: 0, delta: { reasoning_content: 'hm' } }] })],
    ['a choice that nobody asked for', piece('x', 7)],
    ['no choices', chunk({})],
    ['choices of another kind', chunk({ choices: 'x' })],
    ['a choice of another kind', chunk({ choices: [null, 7] })],
    ['a null for an error', chunk({ error: null })],
    ['no object', '7'],
    ['no JSON', '<html>'],
    ['nothing', ''],
  ])('writes nothing for %s', (_, payload) => {
    expect(newStream().push(0, payload)).toBe('')
  })

  it('takes nothing for a completion after its finish reason, nor for a call after [DONE]', () => {
    const stream = newStream({ n: 2 })
    stream.push(0, finish())
    expect(stream.push(0, piece('late'))).toBe('')
    stream.push(0, DONE)
    expect(stream.push(0, piece('late', 1))).toBe('')
    expect(stream.push(0, chunk({ error: {} }))).toBe('')
  })

  it('counts the last usage of a call, never their sum', () => {
    const stream = newStream()
    for (const payload of [usage(9, 1), usage(9, 2), chunk({ choices: [], usage: null }), finish(), DONE]) {
      stream.push(0, payload)
    }
    stream.endCall(0)
    expect(stream.progress(0).usage).toStrictEqual(tokenCounts({ input: 9, output: 2 }))
  })

  it('does not believe a usage of zeros beside a text', () => {
    const stream = newStream()
    for (const payload of [piece('x'), finish(), usage(0, 0), DONE]) {
      stream.push(0, payload)
    }
    expect(stream.progress(0).underWay).toStrictEqual({ usage: undefined, textBytes: 1 })
    stream.endCall(0)
    expect(stream.progress(0).usage).toBeUndefined()
  })

  it('leaves the usage out where one prompt has none', () => {
    const sent = relay({ prompt: ['a', 'b'], stream_options: { include_usage: true } }, [
      [piece('x'), finish(), usage(9, 3), DONE],
      [piece('y'), finish(), DONE],
    ])
    expect(chunksOf(sent).every((each) => each.usage === null)).toBe(true)
  })

  it.each([
    ['[DONE]', [piece('x'), DONE]],
    ['its usage', [piece('x'), usage(9, 3)]],
  ])('ends a completion without a finish reason as a stop when %s says that it is over', (_, payloads) => {
    expect(textsOf(relay({ suffix: '!' }, [payloads]))).toStrictEqual(new Map([[0, { text: 'x!', reason: 'stop' }]]))
  })

  it.each([
    ['in the middle of a completion', 1, [piece('x')]],
    ['before anything came', 1, []],
    ['before the last completion', 2, [piece('x'), finish()]],
  ])('knows that a stream is cut that ends %s', (_, n, payloads) => {
    const stream = newStream({ n })
    for (const payload of payloads) {
      stream.push(0, payload)
    }
    expect(() => stream.endCall(0)).toThrow(new ChatStreamBrokenError())
  })

  it('gives the completions of a repeated call the indexes that are missing', () => {
    const stream = newStream({ prompt: ['a', 'b'], n: 3, stream_options: { include_usage: true } })
    for (const payload of [piece('b', 1), finish(1), usage(2, 1), DONE]) {
      stream.push(1, payload)
    }
    expect(stream.endCall(1)).toStrictEqual({ text: '', missing: 2 })
    expect(stream.hasBegun(1)).toBe(false)
    const sent = [piece('a'), finish(), piece('c', 1), finish(1), usage(2, 4), DONE].map((each) => stream.push(1, each))
    expect(stream.endCall(1)).toStrictEqual({ text: '', missing: 0 })
    expect(textsOf(sent.join(''))).toStrictEqual(
      new Map([
        [3, { text: 'a', reason: 'stop' }],
        [5, { text: 'c', reason: 'stop' }],
      ]),
    )
    expect(stream.progress(1)).toStrictEqual({
      usage: tokenCounts({ input: 4, output: 5 }),
      answered: [
        { usage: tokenCounts({ input: 2, output: 1 }), textBytes: 1, completions: 1 },
        { usage: tokenCounts({ input: 2, output: 4 }), textBytes: 2, completions: 2 },
      ],
      underWay: { usage: undefined, textBytes: 0 },
    })
  })

  it('lets a call that wrote nothing be begun anew', () => {
    const stream = newStream()
    stream.push(0, usage(9, 9))
    stream.push(0, DONE)
    expect(stream.hasBegun(0)).toBe(false)
    stream.restartCall(0)
    expect(stream.isDone(0)).toBe(false)
    expect(stream.push(0, piece('x'))).toContain('"text":"x"')
    expect(stream.hasBegun(0)).toBe(true)
    expect(stream.progress(0)).toStrictEqual({
      usage: NOTHING,
      answered: [],
      underWay: { usage: undefined, textBytes: 1 },
    })
  })

  it('takes a whole answer for a stream', () => {
    const whole = JSON.stringify(readFixture('oai_chat_n2').response.body)
    expect(textsOf(relay({ n: 2 }, [[whole, DONE]]))).toStrictEqual(
      new Map([
        [0, { text: 'Hi!', reason: 'stop' }],
        [1, { text: 'Hey.', reason: 'length' }],
      ]),
    )
  })

  it('fills in an id and a time that the upstream leaves out, the same in each chunk', () => {
    const sent = relay({}, [['{"choices":[{"delta":{"content":"x"}}]}', piece('y'), DONE]])
    expect(chunksOf(sent).map(({ id, created }) => ({ id, created }))).toStrictEqual([FALLBACK, FALLBACK, FALLBACK])
  })

  it.each([
    ['reasoning', { reasoning_content: 'x'.repeat(2_000) }],
    ['the arguments of a tool call', { tool_calls: [{ index: 0, function: { arguments: 'x'.repeat(2_000) } }] }],
    ['a refusal', { refusal: 'x'.repeat(2_000) }],
  ])('counts as generated %s, which has no text, as a chat stream does', (_, delta) => {
    const stream = newStream()
    const chat = new ChatStream({
      ...rulesOf('m'),
      relaysUsage: true,
      choices: 1,
      withoutCredentials: (text) => text,
      costOf: () => undefined,
    })
    for (const payload of [piece(''), piece('Hi'), chunk({ choices: [{ index: 0, delta }] })]) {
      stream.push(0, payload)
      chat.push(`data: ${payload}\n\n`)
    }
    expect(stream.progress(0).underWay.textBytes).toBe(2_002)
    expect(stream.progress(0).underWay.textBytes).toBe(chat.relayedTextBytes)
  })

  it('keeps the usage of an error', () => {
    const stream = newStream()
    stream.push(0, piece('Hi'))
    const usage = { prompt_tokens: 5, completion_tokens: 6 }
    expect(() => stream.push(0, chunk({ error: { message: 'boom' }, usage }))).toThrow(ChatStreamBrokenError)
    expect(stream.progress(0).underWay.usage).toStrictEqual(tokenCounts({ input: 5, output: 6 }))
  })

  it('does not let zeros take the place of a usage', () => {
    const stream = newStream()
    for (const payload of [piece('Hi'), usage(9, 3), usage(0, 0)]) {
      stream.push(0, payload)
    }
    expect(stream.progress(0).underWay.usage).toStrictEqual(tokenCounts({ input: 9, output: 3 }))
  })

  it('counts generated text in bytes', () => {
    const stream = newStream({ echo: true, suffix: 'long' })
    stream.push(0, piece('ü€'))
    expect(stream.progress(0).underWay.textBytes).toBe(5)
  })
})
