import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { tokenCounts } from '#core/pricing/token-usage.ts'
import { ChatStream } from '#lambdas/relay/protocols/chat-stream.ts'
import { rulesOf } from '../../core/relay/reply-rules.ts'
import { readFixture } from '../../upstream/providers/upstream-fixture.ts'
import { ROLE_CHOICES, roleEvent } from './role-chunks.ts'

function relay(chunks: readonly string[], options: Partial<ConstructorParameters<typeof ChatStream>[0]> = {}) {
  const stream = new ChatStream({
    ...rulesOf('chat-a'),
    relaysUsage: true,
    choices: 1,
    withoutCredentials: (text) => text,
    costOf: () => undefined,
    ...options,
  })
  const pushed = chunks.map((chunk) => stream.push(chunk)).join('')
  const rest = stream.end()
  const { state, usage, relayedTextBytes, hasBegun, hasGenerated } = stream
  return { sent: pushed + (rest ?? ''), rest, state, usage, relayedTextBytes, hasBegun, hasGenerated }
}

const bytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1')
const chunk = (members: object) => `data: ${JSON.stringify({ id: 'c', model: 'up', ...members })}\n\n`
const piece = (content: string) => chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
const FINISH = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
const USAGE = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }

const UNREADABLE = `data: ${JSON.stringify({
  error: { message: 'the upstream reported an error', type: 'server_error', param: null, code: 'upstream_error' },
})}\n\n`

describe('ChatStream', () => {
  it.each(['oai_chat_stream', 'oai_chat_stream_usage', 'oai_chat_stream_tools', 'oai_chat_stream_error'])(
    'relays %s byte for byte, with the public model id spliced in',
    (name) => {
      const text = bytes(readFixture(name).response.body_text ?? '')
      expect(relay([text]).sent).toBe(text)
      expect(relay([text], { publicModel: 'public' }).sent).toBe(
        text.replaceAll('"model":"chat-a"', '"model":"public"'),
      )
    },
  )

  it('keeps every byte but the model and comments, wherever the chunks are cut', () => {
    const text = bytes(
      `: hello\r\n\r\n${piece('Grüße, 世界 🌍')}data: {"model":"up",\ndata: "choices":[]}\n\n${FINISH}data: [DONE]\n\n`,
    )
    fc.assert(
      fc.property(fc.array(fc.nat(text.length)), (places) => {
        const ordered = [...places, text.length].sort((left, right) => left - right)
        const chunks = ordered.map((end, index) => text.slice(ordered[index - 1] ?? 0, end))
        const { sent, state } = relay(chunks, { publicModel: 'public' })
        // Of the blank line behind a comment, a line feed that came in the next chunk is left, which ends no event.
        expect(sent.replace(/^\n/, '')).toBe(
          text.replace(': hello\r\n\r\n', '').replaceAll('"model":"up"', '"model":"public"'),
        )
        expect(state).toBe('done')
      }),
    )
  })

  it('splices nothing but the top-level model, also when its name is written with escapes', () => {
    const inner =
      'data: {"choices":[{"model":"up","delta":{"content":"\\"model\\":\\"up\\""}}],"mod\\u0065l" : "up" }\n\n'
    expect(relay([inner]).sent).toBe(inner.replace('"mod\\u0065l" : "up"', '"mod\\u0065l" : "chat-a"'))
  })

  it('drops the chunk that holds nothing but the usage unless the client asked for it', () => {
    const usage = chunk({ choices: [], usage: USAGE })
    const text = `${piece('Hi')}${FINISH}${usage}data: [DONE]\n\n`
    const { sent, usage: read } = relay([text], { publicModel: 'up', relaysUsage: false })
    expect(sent).toBe(text.replace(usage, ''))
    expect(read).toStrictEqual(tokenCounts({ input: 9, output: 3 }))
    expect(relay([text], { publicModel: 'up' }).sent).toBe(text)
  })

  it.each([
    ['null', 'null'],
    ['an empty list with a space in it', '[ ]'],
    ['nothing', undefined],
  ])('drops it also when its choices are %s', (_, choices) => {
    const member = choices === undefined ? '' : `,"choices":${choices}`
    const usage = `data: {"id":"c","model":"up"${member},"usage":${JSON.stringify(USAGE)}}\n\n`
    const text = `${piece('Hi')}${FINISH}${usage}data: [DONE]\n\n`
    const dropped = relay([text], { publicModel: 'up', relaysUsage: false })
    expect(dropped.sent).toBe(text.replace(usage, ''))
    expect(dropped.usage).toStrictEqual(tokenCounts({ input: 9, output: 3 }))
    expect(relay([text], { publicModel: 'up' }).sent).toBe(text)
  })

  it('takes the last usage that is no null, never a sum', () => {
    const counted = (completion: number) => chunk({ choices: [{}], usage: { ...USAGE, completion_tokens: completion } })
    expect(relay([counted(1), counted(2), chunk({ choices: [{}], usage: null })]).usage).toStrictEqual(
      tokenCounts({ input: 9, output: 2 }),
    )
  })

  it.each([
    ['a negative count', { prompt_tokens: -1, completion_tokens: 2 }],
    ['a fraction', { prompt_tokens: 1.5, completion_tokens: 2 }],
    ['a text', { prompt_tokens: '1', completion_tokens: 2 }],
  ])('does not believe a usage with %s', (_, usage) => {
    expect(relay([chunk({ choices: [], usage })]).usage).toBeUndefined()
  })

  it('gives a count as it came, however large: the bill bounds it', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 1e12 }
    expect(relay([chunk({ choices: [], usage })]).usage).toStrictEqual(tokenCounts({ input: 1, output: 1e12 }))
  })

  it('does not believe a usage of zeros beside a text, and keeps one that said more', () => {
    const zeros = chunk({ choices: [], usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } })
    expect(relay([zeros]).usage).toStrictEqual(tokenCounts({ input: 0, output: 0 }))
    expect(relay([piece('Hi'), zeros]).usage).toBeUndefined()
    expect(relay([zeros, piece('Hi')]).usage).toBeUndefined()
    const told = chunk({ choices: [], usage: USAGE })
    expect(relay([piece('Hi'), told, zeros]).usage).toStrictEqual(tokenCounts({ input: 9, output: 3 }))
  })

  it.each(Object.entries(ROLE_CHOICES))('has not begun, and has nothing to bill, after %s', (_, choices) => {
    const { hasBegun, hasGenerated, relayedTextBytes } = relay([roleEvent(choices)])
    expect({ hasBegun, hasGenerated, relayedTextBytes }).toStrictEqual({
      hasBegun: false,
      hasGenerated: false,
      relayedTextBytes: 0,
    })
  })

  it('has begun with the first text, finish or event that is not ours to judge, and at its end with a usage', () => {
    const role = roleEvent(ROLE_CHOICES['a refusal that is null'])
    const usage = chunk({ choices: [], usage: USAGE })
    expect(relay([role, piece('Hi')])).toMatchObject({ hasBegun: true, hasGenerated: true, relayedTextBytes: 2 })
    expect(relay([role, FINISH])).toMatchObject({ hasBegun: true, hasGenerated: false })
    expect(relay(['data: hello\n\n']).hasBegun).toBe(true)
    expect(relay([role, usage]).hasBegun).toBe(true)
    expect(relay([usage]).hasBegun).toBe(false)
    expect(relay([chunk({ choices: [], prompt_filter_results: [{}] })]).hasBegun).toBe(false)
  })

  it('relays no end of a reply that has not begun', () => {
    expect(relay(['data: [DONE]\n\n'])).toMatchObject({ sent: '', state: 'done', hasBegun: false })
    expect(relay([FINISH, 'data: [DONE]']).rest).toBe('data: [DONE]')
  })

  it('drops half an event at the end, and says that it did', () => {
    const { sent, rest } = relay([piece('Hi'), 'data: {"choices":[{"delta":{"content":"wor'], { publicModel: 'up' })
    expect({ sent, rest }).toStrictEqual({ sent: piece('Hi'), rest: undefined })
    expect(relay(['data: {"a']).hasBegun).toBe(false)
    expect(relay([piece('Hi')]).rest).toBe('')
  })

  it('is finished when every choice has its reason, and done at the word', () => {
    expect(relay([piece('Hi')]).state).toBe('open')
    expect(relay([FINISH]).state).toBe('finished')
    expect(relay([FINISH], { choices: 2 }).state).toBe('open')
    expect(relay([FINISH, FINISH], { choices: 2 }).state).toBe('finished')
    expect(relay([FINISH, 'data: [DONE]\n\n']).state).toBe('done')
  })

  it('does not take words of the model for a finish or an error', () => {
    const { state } = relay([piece('"finish_reason":"stop" [DONE] {"error":{}}')])
    expect(state).toBe('open')
  })

  it('relays an error of the upstream and nothing after it', () => {
    const error = 'data: {"error":{"message":"no","code":429}}\n\n'
    const { sent, state } = relay([piece('Hi'), error, 'data: [DONE]\n\n'], { publicModel: 'up' })
    expect(sent).toBe(piece('Hi') + error)
    expect(state).toBe('failed')
  })

  it.each([
    [
      'an event called error, without an error field',
      'event: error\ndata: {"message":"no","provider_name":"up","user_id":1}\n\n',
      'event: error\ndata: {"message":"no"}\n\n',
    ],
    ['an event called error, of what is no JSON', "event: error\ndata: {'error': {'provider': 'up'}}\n\n", UNREADABLE],
    ['an error with more behind it', 'data: {"error":{"message":"no"}} {"provider":"up"}\n\n', UNREADABLE],
    ['an event called error, of plain text', 'event: Error \ndata: up says no\n\n', UNREADABLE],
    [
      'lists and objects in place of texts',
      'data: {"error":{"message":["up"],"param":{"a":"up"},"code":7}}\n\n',
      'data: {"error":{"message":null,"param":null,"code":7}}\n\n',
    ],
  ])('relays no more of an error than its words: %s', (_, error, shown) => {
    const { sent, state } = relay([piece('Hi'), error, 'data: [DONE]\n\n'], { publicModel: 'up' })
    expect(sent).toBe(piece('Hi') + shown)
    expect(state).toBe('failed')
  })

  it.each(['data: {"object":"error","message":"key"}', 'data: key', 'data: {"detail":"key"}'])(
    'relays no credentials in %s',
    (data) => {
      const withoutCredentials = (text: string) => text.replaceAll('key', '***')
      expect(relay([`${data}\n\n`], { withoutCredentials }).sent).toBe(`${data.replace('key', '***')}\n\n`)
    },
  )

  it('relays no half line behind the last data', () => {
    const last = 'data: [DONE]\n'
    expect(relay([piece('Hi'), `${last}id: up`], { publicModel: 'up' }).sent).toBe(piece('Hi') + last)
  })

  it('hides in a list what it hides in an object', () => {
    expect(relay(['data: [{"provider_name":"up","a":1}]\n\n']).sent).toBe('data: [{"a":1}]\n\n')
  })

  it('takes no chunk for an error because its error is null', () => {
    const first = chunk({ choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }], error: null })
    const text = `${first}${FINISH}data: [DONE]\n\n`
    const { sent, state } = relay([text], { publicModel: 'up' })
    expect({ sent, state }).toStrictEqual({ sent: text, state: 'done' })
  })

  it('relays what is no JSON object as it is', () => {
    const odd = 'data: hello\n\ndata: [1,2\n\ndata: {"a\n\nevent: ping\n\n'
    expect(relay([odd]).sent).toBe(odd)
  })

  it('counts the generated text, tool arguments included', () => {
    const call = chunk({ choices: [{ delta: { tool_calls: [{ function: { arguments: '{"a":1}' } }] } }] })
    expect(relay([piece('four'), call]).relayedTextBytes).toBe(4 + '{\\"a\\":1}'.length)
  })
})

it('ChatStream reads an event of a megabyte in steps of 64 KiB', () => {
  const stream = new ChatStream({
    ...rulesOf('public'),
    relaysUsage: false,
    choices: 1,
    withoutCredentials: (text) => text,
    costOf: () => undefined,
  })
  const event = `data: {"model":"up","choices":[{"delta":{"content":"${'x'.repeat(1_000_000)}"}}]}\n\n`
  const pushed = stream.push(event)
  const steps = typeof pushed === 'string' ? [] : [...pushed]
  expect(steps).toHaveLength(Math.ceil(1_000_050 / 65_536))
  expect(stream.relayedTextBytes).toBe(1_000_000)
})
