import { describe, expect, it } from 'vitest'
import { completionFinishReason, generatedText, readChatChoices, readChatIdentity } from '#core/relay/chat-choices.ts'

describe('readChatChoices', () => {
  it('believes no usage of zeros beside a text', () => {
    const choices = [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }]
    const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
    expect(readChatChoices(JSON.stringify({ choices, usage }))?.usage).toBeUndefined()
  })

  it.each(['', 'null', '[]', '{}', '{"choices":{}}', '{"error":{"message":"x"}}', '<html>'])(
    'finds no chat reply in %j',
    (text) => {
      expect(readChatChoices(text)).toBeUndefined()
    },
  )

  it('has choices in order of their index, or of their position without one', () => {
    const choice = (content: string, index?: number) => ({ index, message: { content }, finish_reason: 'stop' })
    const contents = (choices: readonly object[]) =>
      readChatChoices(JSON.stringify({ choices }))?.choices.map(({ content }) => content)
    expect(contents([choice('b', 1), choice('a', 0)])).toEqual(['a', 'b'])
    expect(contents([choice('a'), choice('b')])).toEqual(['a', 'b'])
  })

  it('has no choices where none has a message, unless a usage says what they cost', () => {
    const choices = [{ index: 0, finish_reason: 'stop' }]
    expect(readChatChoices(JSON.stringify({ choices }))?.choices).toEqual([])
    const usage = { prompt_tokens: 9, completion_tokens: 0 }
    expect(readChatChoices(JSON.stringify({ choices, usage }))?.choices).toEqual([
      { content: '', finishReason: 'stop' },
    ])
  })
})

describe('completionFinishReason', () => {
  it.each([
    ['tool_calls', 'stop'],
    ['function_call', 'stop'],
    ['content_filter', 'content_filter'],
    [null, undefined],
  ])('says %j as %j', (reason, expected) => {
    expect(completionFinishReason(reason)).toBe(expected)
  })
})

describe('generatedText', () => {
  it.each([
    ['a string', { content: 'Hi' }, 'Hi'],
    ['parts', { content: [{ text: 'H' }, { type: 'image' }, null, { text: 'i' }] }, 'Hi'],
    ['a refusal', { content: null, refusal: 'no' }, ''],
    ['no message', undefined, ''],
  ])('of %s', (_, message, expected) => {
    expect(generatedText(message)).toBe(expected)
  })
})

describe('readChatIdentity', () => {
  it.each([[''], [7], [undefined]])('leaves out the id %j', (id) => {
    expect(readChatIdentity({ id, created: 1 })).toEqual({ id: undefined, created: 1 })
  })

  it.each([[-1], [1.5], ['1'], [undefined]])('leaves out the time %j', (created) => {
    expect(readChatIdentity({ id: 'x', created })).toEqual({ id: 'x', created: undefined })
  })
})
