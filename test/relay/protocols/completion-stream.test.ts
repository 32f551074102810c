import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { tokenCounts } from '#core/pricing/token-usage.ts'
import { CompletionStream, CompletionWriter } from '#lambdas/relay/protocols/completion-reply.ts'
import { rulesOf } from '../../core/relay/reply-rules.ts'
import { readFixture } from '../../upstream/providers/upstream-fixture.ts'
import { chunk, DONE, finish, head, piece, usage } from './chat-chunks.ts'
import { CHAT_MODEL, completionRequest, FALLBACK } from './completing.ts'
import { chunksOf, payloadsOf, textsOf } from './completion-chunks.ts'

const text = (bytes: string) => Buffer.from(bytes, 'latin1').toString('utf8')
const bytesOf = (events: string) => Buffer.from(events).toString('latin1')
const event = (payload: string) => bytesOf(`data: ${payload}\n\n`)

const RULES = { ...rulesOf('m'), withoutCredentials: (words: string) => words.replaceAll('secret', '[redacted]') }

/** The streams of a request's prompts, which share the writer of the response. */
function streamsOf(members: object = {}) {
  const request = completionRequest({ stream: true, ...members })
  const writer = new CompletionWriter(request, FALLBACK)
  const streams = request.prompts.map(
    (_, promptIndex) => new CompletionStream(RULES, { writer, promptIndex, n: request.n }),
  )
  return { writer, streams }
}

function newStream(members: object = {}): CompletionStream {
  const [stream] = streamsOf(members).streams
  if (stream === undefined) {
    throw new RangeError('no prompt')
  }
  return stream
}

/** The text of a response whose prompts got these payloads. */
function relay(members: object, ...prompts: readonly (readonly string[])[]): string {
  const { writer, streams } = streamsOf(members)
  const sent = streams.map((stream, promptIndex) => {
    const events = (prompts[promptIndex] ?? []).map((payload) => stream.push(event(payload))).join('')
    return text(events + (stream.end() ?? ''))
  })
  return sent.join('') + writer.end(streams[0]?.usage, undefined)
}

describe('CompletionStream', () => {
  it('writes chunks as the legacy API has them', () => {
    const common = `"id":"cmpl-1","object":"text_completion","created":1776678917,"model":"${CHAT_MODEL}"`
    expect(relay({}, [piece(''), piece('Hi'), finish(), usage(9, 3), DONE])).toBe(
      [
        `{${common},"choices":[{"text":"Hi","index":0,"logprobs":null,"finish_reason":null}]}`,
        `{${common},"choices":[{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}]}`,
        DONE,
      ]
        .map((data) => `data: ${data}\n\n`)
        .join(''),
    )
  })

  it('ends with one chunk of usage where the client asked for it, and has a null in every other', () => {
    const first = [piece('x'), finish(), usage(9, 3), DONE]
    const second = [piece('y'), finish(), usage(9, 3), DONE]
    const sent = relay({ prompt: ['a', 'b'], stream_options: { include_usage: true } }, first, second)
    const chunks = chunksOf(sent)
    expect(chunks.slice(0, -1).map((each) => each.usage)).toStrictEqual([null, null, null, null])
    expect(chunks.at(-1)).toStrictEqual({
      id: 'cmpl-1',
      object: 'text_completion',
      created: head.created,
      model: CHAT_MODEL,
      choices: [],
      usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    })
    expect(sent.split(DONE)).toHaveLength(2)
    expect(sent.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it('leaves out the chunk of a usage that is not known', () => {
    const sent = relay({ stream_options: { include_usage: true } }, [piece('x'), finish(), DONE])
    expect(chunksOf(sent).every((each) => each.usage === null)).toBe(true)
  })

  it.each([
    ['oai_chat_stream', 'Hi!'],
    ['oai_chat_stream_usage', 'Hi!'],
    ['oai_chat_stream_tools', ''],
  ])('takes the recorded stream %s, of which a tool call ends as a stop', (name, expected) => {
    const sent = relay({}, payloadsOf(readFixture(name).response.body_text ?? ''))
    expect(textsOf(sent)).toStrictEqual(new Map([[0, { text: expected, reason: 'stop' }]]))
  })

  it('hands on the error of a recorded stream, and nothing after it', () => {
    const stream = newStream()
    const payloads = payloadsOf(readFixture('oai_chat_stream_error').response.body_text ?? '')
    const sent = payloads.map((payload) => text(stream.push(event(payload))))
    expect(sent.join('')).toContain('"text":"Hi"')
    expect(JSON.parse(payloadsOf(sent.at(-1) ?? '')[0] ?? '')).toStrictEqual({
      error: JSON.parse(payloads.at(-1) ?? '').error,
    })
    expect(stream.state).toBe('failed')
    expect(stream.push(event(piece('late')))).toBe('')
  })

  it('shows no credential in an error, and keeps its usage', () => {
    const stream = newStream()
    stream.push(event(piece('Hi')))
    const counts = { prompt_tokens: 5, completion_tokens: 6 }
    const sent = stream.push(event(chunk({ error: { message: 'key secret' }, usage: counts })))
    expect(sent).toBe('data: {"error":{"message":"key [redacted]"}}\n\n')
    expect(stream.usage).toStrictEqual(tokenCounts({ input: 5, output: 6 }))
  })

  it('puts the echo before the first text of each completion and the suffix with its finish reason', () => {
    const first = [piece(' upon'), piece('', 1), piece(' a', 1), piece(' a'), finish(1, 'length'), finish(), DONE]
    const members = { prompt: ['Once', 'Twice'], n: 2, echo: true, suffix: ' END' }
    const sent = relay(members, first, [finish(), finish(1), DONE])
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
    ['a usage', usage(9, 3)],
    ['no object', '7'],
    ['no JSON', '<html>'],
    ['nothing', ''],
  ])('writes nothing for %s, and has not begun', (_, payload) => {
    const stream = newStream()
    expect(stream.push(event(payload))).toBe('')
    expect(stream.hasBegun).toBe(false)
  })

  it('writes nothing for a completion after its finish reason, nor after [DONE]', () => {
    const stream = newStream({ n: 2 })
    stream.push(event(finish()))
    expect(stream.push(event(piece('late')))).toBe('')
    stream.push(event(DONE))
    expect(stream.push(event(piece('late', 1)))).toBe('')
  })

  it.each([
    ['[DONE]', [piece('x'), DONE]],
    ['its usage', [piece('x'), usage(9, 3)]],
  ])('ends a completion without a finish reason as a stop when %s says that it is over', (_, payloads) => {
    expect(textsOf(relay({ suffix: '!' }, payloads))).toStrictEqual(new Map([[0, { text: 'x!', reason: 'stop' }]]))
  })

  it('leaves out a choice that its upstream left out', () => {
    const sent = relay({ prompt: ['a', 'b'], n: 2 }, [piece('b', 1), finish(1), DONE], [piece('c'), finish(), DONE])
    expect([...textsOf(sent).keys()]).toStrictEqual([1, 2])
  })

  it('fills in an id and a time that the upstream leaves out, the same in each chunk', () => {
    const sent = relay({}, ['{"choices":[{"delta":{"content":"x"}}]}', piece('y'), DONE])
    expect(chunksOf(sent).map(({ id, created }) => ({ id, created }))).toStrictEqual([FALLBACK, FALLBACK, FALLBACK])
  })

  it('has per index the text in one piece, wherever the bytes of the upstream are cut', () => {
    const content = fc.array(fc.string({ unit: 'binary', maxLength: 4 }), { maxLength: 4 })
    const completion = fc.record({ pieces: content, reason: fc.constantFrom('stop', 'length', 'content_filter') })
    const cuts = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(fc.array(completion, { minLength: 1, maxLength: 3 }), cuts, (completions, lengths) => {
        const n = completions.length
        const { streams } = streamsOf({ prompt: ['a', 'Grüße'], n, echo: true, suffix: ' END' })
        const payloads = completions.flatMap(({ pieces, reason }, k) => [
          ...pieces.map((each) => piece(each, k)),
          finish(k, reason),
        ])
        const bytes = [...payloads, usage(9, 3), DONE].map(event).join('')
        let sent = ''
        for (let start = 0, cut = 0; start < bytes.length; cut += 1) {
          const end = start + (lengths[cut % lengths.length] ?? 1)
          sent += streams[1]?.push(bytes.slice(start, end))
          start = end
        }
        const expected = completions.map(
          ({ pieces, reason }, k) => [n + k, { text: `Grüße${pieces.join('')} END`, reason }] as const,
        )
        expect(textsOf(text(sent))).toStrictEqual(new Map(expected))
      }),
      { numRuns: 150 },
    )
  })
})
