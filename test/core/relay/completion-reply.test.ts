import { describe, expect, it } from 'vitest'
import { type ChatChoices, readChatChoices } from '#core/relay/chat-choices.ts'
import { completionResponse, missingChoices } from '#core/relay/completion-reply.ts'
import { readFixture } from '../../adapters/providers/upstream-fixture.ts'
import { CHAT_MODEL, completionRequest, FALLBACK } from './completing.ts'
import { mapExchanges } from './completion-fixture.ts'

function read(answer: unknown): ChatChoices {
  const choices = readChatChoices(JSON.stringify(answer))
  if (choices === undefined) {
    throw new TypeError('not a chat answer')
  }
  return choices
}

const chat = (...contents: readonly string[]) => ({
  id: 'chatcmpl-1',
  created: 1_776_678_917,
  choices: contents.map((content, index) => ({ index, message: { content }, finish_reason: 'stop' })),
  usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
})

function answer(members: object, answers: readonly (readonly unknown[])[]) {
  const request = completionRequest(members)
  return JSON.parse(
    completionResponse(
      request,
      answers.map((each) => each.map(read)),
      { fallback: FALLBACK, cost: undefined },
    ),
  )
}

/** The fixtures name another model. */
function expectedOf(name: string): object {
  return { ...Object(readFixture(name).response.body), model: CHAT_MODEL }
}

describe('completionResponse', () => {
  it('makes the answer of the fixture with two prompts, n, echo and suffix', () => {
    const { model: _, ...members } = Object(readFixture('oai_completions_map').request.body)
    const text = completionResponse(
      completionRequest(members),
      mapExchanges().map(({ response }) => [read(response)]),
      { fallback: FALLBACK, cost: undefined },
    )
    expect(text).toBe(JSON.stringify(expectedOf('oai_completions_map')))
  })

  it('makes the answer of the fixture with one prompt', () => {
    const upstream = {
      ...chat(' a time'),
      choices: [{ index: 0, message: { content: ' a time' }, finish_reason: 'length' }],
      usage: { prompt_tokens: 2, completion_tokens: 16, total_tokens: 18 },
    }
    expect(answer({ prompt: 'Once upon' }, [[upstream]])).toStrictEqual(expectedOf('oai_completions_simple'))
  })

  it('says how much of the prompts came from a cache, if any did', () => {
    const cached = {
      ...chat('a'),
      usage: {
        prompt_tokens: 20,
        completion_tokens: 3,
        prompt_tokens_details: { cached_tokens: 12, cache_write_tokens: 5 },
      },
    }
    expect(answer({ prompt: ['a', 'b'] }, [[cached], [chat('b')]]).usage).toStrictEqual({
      prompt_tokens: 22,
      completion_tokens: 6,
      total_tokens: 28,
      prompt_tokens_details: { cached_tokens: 12, cache_write_tokens: 5 },
    })
  })

  it('has the answers of a fixture with several choices in order of their index', () => {
    const { choices, ...rest } = Object(readFixture('oai_chat_n2').response.body)
    const texts = answer({ n: 2 }, [[{ ...rest, choices: choices.toReversed() }]]).choices
    expect(texts).toMatchObject([
      { index: 0, text: 'Hi!', finish_reason: 'stop' },
      { index: 1, text: 'Hey.', finish_reason: 'length' },
    ])
  })

  it.each([
    ['oai_chat_tools', { text: '', finish_reason: 'stop' }],
    ['oai_chat_content_filter', { text: '', finish_reason: 'content_filter' }],
    ['oai_chat', { text: 'Hi!', finish_reason: 'stop' }],
  ])('says what %s has in the words of the older interface', (name, choice) => {
    expect(answer({}, [[readFixture(name).response.body]]).choices).toStrictEqual([
      { index: 0, logprobs: null, ...choice },
    ])
  })

  it.each([
    [{ finish_reason: 'function_call' }, 'stop'],
    [{ finish_reason: null }, 'stop'],
    [{}, 'stop'],
    [{ finish_reason: 'length' }, 'length'],
  ])('ends a completion with %j as %s', (members, reason) => {
    const choices = [{ message: { content: 'a' }, ...members }]
    expect(answer({}, [[{ ...chat(), choices }]]).choices).toMatchObject([{ finish_reason: reason }])
  })

  it('reads content in parts', () => {
    const content = [
      { type: 'text', text: 'Hi' },
      { type: 'reference', ids: [1] },
      { type: 'text', text: '!' },
    ]
    const choices = [{ index: 0, message: { content }, finish_reason: 'stop' }]
    expect(answer({}, [[{ ...chat(), choices }]]).choices).toMatchObject([{ text: 'Hi!' }])
  })

  it('counts what is missing, takes it from the calls that were repeated, and drops what is too many', () => {
    const first = chat('a')
    expect(missingChoices([read(first)], 3)).toBe(2)
    const answers = [first, chat('b', 'c', 'd')]
    expect(missingChoices(answers.map(read), 3)).toBe(0)
    const { choices, usage } = answer({ prompt: ['x', 'y'], n: 3 }, [answers, [chat('e', 'f', 'g')]])
    expect(choices.map(({ index, text }: { index: number; text: string }) => [index, text])).toStrictEqual([
      [0, 'a'],
      [1, 'b'],
      [2, 'c'],
      [3, 'e'],
      [4, 'f'],
      [5, 'g'],
    ])
    expect(usage).toStrictEqual({ prompt_tokens: 6, completion_tokens: 9, total_tokens: 15 })
  })

  it('leaves the usage out where an upstream reports none, because a part of a sum is no usage', () => {
    const { usage: _, ...silent } = chat('b')
    expect(answer({ prompt: ['x', 'y'] }, [[chat('a')], [silent]])).not.toHaveProperty('usage')
  })

  it.each([
    ['chatcmpl-9x', 'cmpl-9x'],
    ['cmpl-9x', 'cmpl-9x'],
    ['gen-9x', 'cmpl-gen-9x'],
    ['', FALLBACK.id],
    [undefined, FALLBACK.id],
    [7, FALLBACK.id],
  ])('makes of the id %j of the first answer the id %s', (id, expected) => {
    expect(answer({}, [[{ ...chat('a'), id }]]).id).toBe(expected)
  })

  it.each([[undefined], [-1], [1.5], ['1776678917']])('fills in the time for an answer created at %j', (created) => {
    expect(answer({}, [[{ ...chat('a'), created }]]).created).toBe(FALLBACK.created)
  })
})
