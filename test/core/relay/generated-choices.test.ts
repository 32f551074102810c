import { describe, expect, it } from 'vitest'
import { generatedBytes, hasGenerated, hasGeneratedJson } from '#core/relay/generated-choices.ts'
import { ROLE_CHOICES } from './role-chunks.ts'

describe('choices in which nothing was generated', () => {
  it.each(Object.entries(ROLE_CHOICES))('are those with %s', (_, choices) => {
    expect(hasGeneratedJson(choices)).toBe(false)
  })

  it.each([
    ['none', undefined],
    ['null', null],
    ['an empty list', []],
    ['a list of null', [null]],
    ['an empty choice', [{}]],
    ['a finish reason alone', [{ index: 0, delta: {}, finish_reason: 'stop', stop_reason: 7 }]],
    ['an empty message', [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'error' }]],
  ])('are %s', (_, choices) => {
    expect(hasGenerated(choices)).toBe(false)
  })
})

describe('choices in which something was generated', () => {
  it.each([
    ['a text', { delta: { content: 'H' } }],
    ['a text in parts', { delta: { content: [{ type: 'text', text: 'Hi' }] } }],
    ['a refusal', { delta: { content: null, refusal: 'No' } }],
    ['a reasoning', { delta: { reasoning_content: 'Hm' } }],
    ['a tool call', { delta: { tool_calls: [{ index: 0, function: { name: 'f', arguments: '' } }] } }],
    ['a function call', { delta: { function_call: { name: 'f' } } }],
    ['sound', { delta: { audio: { data: 'UklG' } } }],
    ['something of a name that nobody knows', { delta: { hologram: 0 } }],
    ['the text of a message', { message: { role: 'assistant', content: 'Hi' } }],
    ['a text beside the delta', { delta: {}, text: 'Hi' }],
  ])('are those with %s', (_, choice) => {
    expect(hasGenerated([{ index: 0, finish_reason: null, ...choice }])).toBe(true)
    expect(hasGenerated([{ index: 0, delta: { role: 'assistant' } }, choice])).toBe(true)
  })

  it('are those that cannot be read: an upstream may bill them', () => {
    expect(hasGeneratedJson('[{"delta":{"content":"a')).toBe(true)
    expect(hasGenerated('words')).toBe(true)
  })

  it('are counted by their text, and else by their length beyond the syntax', () => {
    expect(generatedBytes('[{"delta":{"content":"four","refusal":null}}]')).toBe(4)
    const sound = JSON.stringify([{ delta: { audio: { data: 'x'.repeat(200) } } }])
    expect(generatedBytes(sound)).toBe(sound.length - 100)
  })
})
