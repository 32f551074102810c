import { describe, expect, it } from 'vitest'
import { isJsonObject, parseJsonObject } from '#core/json/parse-json-text.ts'

describe('a JSON object', () => {
  it.each([{}, { a: 1 }])('is told from other values: %j', (value) => {
    expect(isJsonObject(value)).toBe(true)
    expect(parseJsonObject(JSON.stringify(value))).toEqual(value)
  })

  it.each([null, [], [{}], 'text', 1, true])('is not %j', (value) => {
    expect(isJsonObject(value)).toBe(false)
    expect(parseJsonObject(JSON.stringify(value))).toBeUndefined()
  })

  it.each(['', '{', '{"a":1}x', 'undefined'])('is not read from a text that is no JSON: %j', (text) => {
    expect(parseJsonObject(text)).toBeUndefined()
  })
})
