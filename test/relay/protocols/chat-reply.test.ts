import { describe, expect, it } from '@jest/globals'
import { tokenCounts } from '#core/pricing/token-usage.ts'
import { ChatReplyReader } from '#lambdas/relay/protocols/chat-reply.ts'
import { readChatChoices } from '#lambdas/relay/protocols/completion-reply.ts'
import { pushInPieces, rulesOf } from '../../core/relay/reply-rules.ts'

function readChatReply(text: string) {
  const reader = new ChatReplyReader(rulesOf('public'), false)
  pushInPieces(reader, Buffer.from(text))
  return reader.end()
}

const choice = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }
const reply = (fields: object) => JSON.stringify({ id: 'c', model: 'up', choices: [choice], ...fields })

function asEvents(text: string): string | undefined {
  const read = readChatReply(text)
  return read.kind === 'reply' ? read.events?.(undefined) : undefined
}

describe('a whole reply with an error in it', () => {
  const error = { message: 'boom' }

  it.each([
    ['no choices', undefined],
    ['an empty list', []],
    ['a choice of nothing', [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'error' }]],
  ])('is a failure with %s', (_, choices) => {
    expect(readChatReply(reply({ error, choices })).kind).toBe('error')
  })

  it('is a reply when something was generated, or the error is null', () => {
    expect(readChatReply(reply({ error })).kind).toBe('reply')
    expect(readChatReply(reply({ error: null })).kind).toBe('reply')
  })
})

/** None of them holds what was asked for. */
const WITHOUT_MESSAGE = [
  ['no choice', []],
  ['a choice without a message', [{}]],
  ['choices that are no objects', [null, 1, 'x', [{ message: {} }]]],
  [
    'a message that is no object',
    [
      { index: 0, message: 'Hi' },
      { index: 1, message: null },
    ],
  ],
] as const

describe('a whole reply without a message', () => {
  it.each(WITHOUT_MESSAGE)('is unusable without a usage, and a reply with one (%s)', (_, choices) => {
    expect(readChatReply(reply({ choices })).kind).toBe('unusable')
    const usage = { prompt_tokens: 9, completion_tokens: 0 }
    expect(readChatReply(reply({ choices, usage })).kind).toBe('reply')
  })

  it('gives no legacy completion', () => {
    for (const [, choices] of WITHOUT_MESSAGE) {
      expect(readChatChoices(reply({ choices }))).toBeUndefined()
    }
  })

  it('is a reply when its message is empty', () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'stop' }]
    expect(readChatReply(reply({ choices })).kind).toBe('reply')
  })
})

describe('the usage of a whole reply', () => {
  const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }

  it('is not believed when it is all zeros beside a text', () => {
    expect(readChatReply(reply({ usage }))).toMatchObject({ kind: 'reply', usage: undefined })
    expect(readChatReply(reply({ usage, choices: [] }))).toMatchObject({
      usage: tokenCounts({ input: 0, output: 0 }),
    })
  })
})

describe('a whole reply as a stream', () => {
  const usage = { prompt_tokens: 9, completion_tokens: 0 }

  it('is the same with a byte order mark as without', () => {
    expect(asEvents(`\ufeff${reply({})}`)).toBe(asEvents(reply({})))
    expect(asEvents(reply({}))).toContain('"delta":{"role":"assistant","content":"Hi"}')
  })

  it('has an empty delta for a choice without a message', () => {
    expect(asEvents(reply({ usage, choices: [{ index: 0, message: null }, { index: 1 }] }))).toContain(
      '"choices":[{"index":0,"delta":{}},{"index":1,"delta":{}}]',
    )
  })

  it.each([
    ['a choice that is null', reply({ usage, choices: [null] })],
    ['a choice that is a text', reply({ usage, choices: ['x'] })],
    ['a message that is a text', reply({ usage, choices: [{ index: 0, message: 'x' }] })],
  ])('cannot be made of %s', (_, text) => {
    expect(asEvents(text)).toBeUndefined()
  })
})
