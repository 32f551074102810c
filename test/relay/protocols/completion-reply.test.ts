import { describe, expect, it } from '@jest/globals'
import { type ChatChoices, CompletionWriter, readChatChoices } from '#lambdas/relay/protocols/completion-reply.ts'
import { readFixture } from '../../upstream/providers/upstream-fixture.ts'
import { CHAT_MODEL, completionRequest, FALLBACK } from './completing.ts'
import { mapExchanges } from './completion-fixture.ts'

function read(reply: unknown): ChatChoices {
  const choices = readChatChoices(JSON.stringify(reply))
  if (choices === undefined) {
    throw new TypeError('not a chat reply')
  }
  return choices
}

const chat = (...contents: readonly string[]) => ({
  id: 'chatcmpl-1',
  created: 1_776_678_917,
  choices: contents.map((content, index) => ({ index, message: { content }, finish_reason: 'stop' })),
  usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
})

/** The whole response to a request whose prompts got these replies, with the usage of the first. */
function respond(members: object, ...replies: readonly unknown[]): string {
  const writer = new CompletionWriter(completionRequest(members), FALLBACK)
  const choices = replies.map((reply, promptIndex) => Buffer.from(writer.elements(promptIndex, read(reply))))
  return Buffer.concat(writer.whole(choices, read(replies[0]).usage, undefined)).toString()
}

const choicesOf = (members: object, ...replies: readonly unknown[]) => JSON.parse(respond(members, ...replies)).choices

describe('CompletionWriter', () => {
  it('writes the choices of the fixture with two prompts, n, echo and suffix', () => {
    const { model: _, ...members } = Object(readFixture('oai_completions_map').request.body)
    const replies = mapExchanges().map(({ response }) => response)
    const expected = readFixture('oai_completions_map').response.body
    expect(choicesOf(members, ...replies)).toStrictEqual(Object(expected).choices)
  })

  it('writes the response of the fixture with one prompt to the byte', () => {
    const reply = {
      ...chat(' a time'),
      choices: [{ index: 0, message: { content: ' a time' }, finish_reason: 'length' }],
      usage: { prompt_tokens: 2, completion_tokens: 16, total_tokens: 18 },
    }
    const expected = { ...Object(readFixture('oai_completions_simple').response.body), model: CHAT_MODEL }
    expect(respond({ prompt: 'Once upon' }, reply)).toBe(JSON.stringify(expected))
  })

  it('says how much of the prompts came from a cache, if any did', () => {
    const details = { cached_tokens: 12, cache_write_tokens: 5 }
    const usage = { prompt_tokens: 20, completion_tokens: 3, prompt_tokens_details: details }
    expect(JSON.parse(respond({}, { ...chat('a'), usage })).usage).toStrictEqual({
      prompt_tokens: 20,
      completion_tokens: 3,
      total_tokens: 23,
      prompt_tokens_details: details,
    })
  })

  it('leaves out the usage that is not known', () => {
    expect(JSON.parse(respond({}, { ...chat('a'), usage: null }))).not.toHaveProperty('usage')
  })

  it('leaves out the choices that an upstream left out, and those that are too many', () => {
    const indexed = choicesOf({ prompt: ['x', 'y'], n: 2 }, chat('a'), chat('b', 'c', 'd'))
    expect(indexed.map(({ index, text }: { index: number; text: string }) => [index, text])).toStrictEqual([
      [0, 'a'],
      [2, 'b'],
      [3, 'c'],
    ])
  })

  it.each([
    ['chatcmpl-9x', 'cmpl-9x'],
    ['cmpl-9x', 'cmpl-9x'],
    ['gen-9x', 'cmpl-gen-9x'],
    ['', FALLBACK.id],
    [undefined, FALLBACK.id],
    [7, FALLBACK.id],
  ])('makes of the id %j of the first reply the id %s', (id, expected) => {
    expect(JSON.parse(respond({ prompt: ['a', 'b'] }, { ...chat('a'), id }, chat('b'))).id).toBe(expected)
  })

  it.each([[undefined], [-1], [1.5], ['1776678917']])('fills in the time for a reply created at %j', (created) => {
    expect(JSON.parse(respond({}, { ...chat('a'), created })).created).toBe(FALLBACK.created)
  })
})

describe('readChatChoices', () => {
  it.each(['', 'null', '[]', '{}', '{"choices":{}}', '{"choices":[]}', '{"error":{"message":"x"}}', '<html>'])(
    'finds no chat reply in %j',
    (text) => {
      expect(readChatChoices(text)).toBeUndefined()
    },
  )

  it('finds no chat reply where no choice has a message, unless a usage says what they cost', () => {
    const choices = [{ index: 0, finish_reason: 'stop' }]
    expect(readChatChoices(JSON.stringify({ choices }))).toBeUndefined()
    const usage = { prompt_tokens: 9, completion_tokens: 0 }
    expect(read({ choices, usage }).choices).toStrictEqual([{ text: '', finishReason: 'stop' }])
  })

  it('believes no usage of zeros beside a text', () => {
    expect(read({ ...chat('Hi'), usage: { prompt_tokens: 0, completion_tokens: 0 } }).usage).toBeUndefined()
  })

  it('orders choices by their index, or by their position without one', () => {
    const { choices, ...rest } = Object(readFixture('oai_chat_n2').response.body)
    const ordered = [
      { text: 'Hi!', finishReason: 'stop' },
      { text: 'Hey.', finishReason: 'length' },
    ]
    expect(read({ ...rest, choices: choices.toReversed() }).choices).toStrictEqual(ordered)
    const unindexed = choices.map((choice: object) => ({ ...choice, index: undefined }))
    expect(read({ ...rest, choices: unindexed }).choices).toStrictEqual(ordered)
  })

  it.each([
    ['oai_chat_tools', { text: '', finishReason: 'stop' }],
    ['oai_chat_content_filter', { text: '', finishReason: 'content_filter' }],
    ['oai_chat', { text: 'Hi!', finishReason: 'stop' }],
  ])('says what %s has in the words of the legacy API', (name, choice) => {
    expect(read(readFixture(name).response.body).choices).toStrictEqual([choice])
  })

  it.each([
    [{ finish_reason: 'function_call' }, 'stop'],
    [{ finish_reason: null }, 'stop'],
    [{}, 'stop'],
    [{ finish_reason: 'length' }, 'length'],
  ])('ends a completion with %j as %s', (members, finishReason) => {
    const choices = [{ message: { content: 'a' }, ...members }]
    expect(read({ choices }).choices).toStrictEqual([{ text: 'a', finishReason }])
  })

  it.each([
    ['a string', { content: 'Hi' }, 'Hi'],
    ['parts', { content: [{ text: 'H' }, { type: 'image' }, null, { text: 'i' }] }, 'Hi'],
    ['a refusal', { content: null, refusal: 'no' }, ''],
  ])('reads the text of %s', (_, message, text) => {
    expect(read({ choices: [{ message }] }).choices).toMatchObject([{ text }])
  })
})
